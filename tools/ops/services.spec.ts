import { serviceOf, takeOption } from './services.ts';

describe('takeOption', () => {
  it.each([
    [['order', 'ship', '--as', 'ann', 'x'], 'ann', ['order', 'ship', 'x']],
    [['--as=ann', 'audit'], 'ann', ['audit']],
    [['audit', '--as'], '', ['audit']],
    [['audit', '--as', '--json'], '', ['audit', '--json']],
    [['audit', '--as=--json'], '--json', ['audit']],
    [['audit', '--ask', 'x'], undefined, ['audit', '--ask', 'x']],
  ])('returns the value of --as in %j, and the other arguments', (args, value, rest) => {
    expect(takeOption(args, '--as')).toEqual({ value, rest });
  });
});

describe('serviceOf', () => {
  it('returns the service whose commands begin with the noun, if any', () => {
    const nouns = ['dead-letters', 'creator', 'rates', 'webhooks', 'nonsense', undefined];
    expect(nouns.map(serviceOf)).toEqual([
      'store-api',
      'auth-server',
      'creator-api',
      'webhook-worker',
      undefined,
      undefined,
    ]);
  });
});
