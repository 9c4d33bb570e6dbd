import { describe, expect, it } from '@jest/globals';
import { serviceOf, takeOption } from './services.ts';

describe('a command line of ops', () => {
  it.each([
    [['order', 'ship', '--as', 'ann', 'x'], 'ann', ['order', 'ship', 'x']],
    [['--as=ann', 'audit'], 'ann', ['audit']],
    [['audit', '--as'], '', ['audit']],
    [['audit', '--ask', 'x'], undefined, ['audit', '--ask', 'x']],
  ])('yields the option --as of %j', (args, value, rest) => {
    expect(takeOption(args, '--as')).toEqual({ value, rest });
  });

  it('belongs to the service of its noun', () => {
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
