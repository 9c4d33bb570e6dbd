import type { WebhookSubscription } from '@fulfilment/client/store';
import { UsageError } from '../terminal.js';
import { planChanges, parseWebhooksFile } from './webhooks-file.js';

const file = `
webhooks:
  - url: https://shop.example
    events: [order.*]
    secret_env: SHOP_SECRET
  - url: https://stock.example/hooks
    events: [product.in_stock, product.out_of_stock]
    secret_env: STOCK_SECRET
    max_in_flight: 4
    signature: v1a
    status: disabled
`;
const environment = { SHOP_SECRET: 'one', STOCK_SECRET: 'two' };
const wanted = parseWebhooksFile(file, environment);

const existing = (
  id: string,
  url: string,
  changes: Partial<WebhookSubscription> = {},
): WebhookSubscription => ({
  id,
  url,
  events: ['order.*'],
  status: 'active',
  consecutive_failures: 0,
  last_delivery_at: null,
  last_failure_at: null,
  disabled_at: null,
  max_in_flight: 64,
  ...changes,
});

describe('the file of subscriptions', () => {
  it('is read with secrets from the environment, normalised URLs and the default status', () => {
    expect(wanted).toEqual([
      { url: 'https://shop.example/', events: ['order.*'], secret: 'one', status: 'active' },
      {
        url: 'https://stock.example/hooks',
        events: ['product.in_stock', 'product.out_of_stock'],
        secret: 'two',
        max_in_flight: 4,
        signature: 'v1a',
        status: 'disabled',
      },
    ]);
  });

  it.each([
    ['it is not YAML', 'webhooks: [', /not YAML/],
    ['it has no subscriptions', '{}', /webhooks/],
    ['an event is unknown', file.replace('order.*', 'order.eaten'), /events/],
    ['it contains a secret', file.replace('secret_env: SHOP_SECRET', 'secret: one'), /secret/],
    ['a variable is not set', file.replace('SHOP_SECRET', 'OTHER'), /The environment variable OTHER/],
    [
      'a URL occurs twice',
      file.replace('stock.example/hooks', 'shop.example/'),
      /lists https:\/\/shop\.example\/ twice/,
    ],
  ])('is rejected with the reason if %s', (_problem, text, reason) => {
    expect(() => parseWebhooksFile(text, environment)).toThrow(UsageError);
    expect(() => parseWebhooksFile(text, environment)).toThrow(reason);
  });
});

describe('the plan', () => {
  const plan = (subscriptions: readonly WebhookSubscription[], deletes = false) =>
    planChanges(wanted, subscriptions, { deletes }).map((change) => ({
      action: change.action,
      url: 'wanted' in change ? change.wanted.url : change.url,
      ...('id' in change && { id: change.id }),
      ...('members' in change && { members: change.members }),
    }));

  it('creates what does not exist', () => {
    expect(plan([])).toEqual([
      { action: 'create', url: 'https://shop.example/' },
      { action: 'create', url: 'https://stock.example/hooks' },
    ]);
  });

  it('updates what differs, keeps what is the same, and re-enables what was disabled', () => {
    expect(
      plan([
        existing('whk_1', 'https://shop.example', { status: 'disabled' }),
        existing('whk_2', 'https://stock.example/hooks', {
          events: ['product.out_of_stock', 'product.in_stock'],
          max_in_flight: 4,
          signature: 'v1a',
          status: 'disabled',
        }),
      ]),
    ).toEqual([
      { action: 'update', id: 'whk_1', url: 'https://shop.example/', members: ['status'] },
      { action: 'keep', id: 'whk_2', url: 'https://stock.example/hooks', members: [] },
    ]);
  });

  it('compares max_in_flight and signature only if the file names them', () => {
    const differing = { events: ['*' as const], max_in_flight: 5, signature: 'v1' as const };
    const subscriptions = wanted.map(({ url }, index) => existing(`whk_${index}`, url, differing));
    expect(plan(subscriptions)).toMatchObject([
      { members: ['events'] },
      { members: ['events', 'max_in_flight', 'signature', 'status'] },
    ]);
  });

  it('ignores what is not in the file, also a second subscription of a URL, or deletes it on request', () => {
    const others = [
      existing('whk_1', 'https://shop.example/'),
      existing('whk_2', 'https://shop.example/'),
      existing('whk_3', 'https://old.example/'),
    ];
    expect(plan(others).slice(2)).toEqual([
      { action: 'ignore', id: 'whk_2', url: 'https://shop.example/' },
      { action: 'ignore', id: 'whk_3', url: 'https://old.example/' },
    ]);
    expect(
      plan(others, true)
        .slice(2)
        .map(({ action }) => action),
    ).toEqual(['delete', 'delete']);
  });

  it('deletes first only as many subscriptions as the limit of 50 requires', () => {
    const others = (count: number) =>
      Array.from({ length: count }, (_, index) => existing(`whk_${index}`, `https://old.example/${index}`));
    const firstActions = (count: number) =>
      plan(others(count), true)
        .slice(0, 3)
        .map(({ action }) => action);
    expect(firstActions(48)).toEqual(['create', 'create', 'delete']);
    expect(firstActions(49)).toEqual(['delete', 'create', 'create']);
    expect(firstActions(50)).toEqual(['delete', 'delete', 'create']);
    expect(plan(others(50), true)).toHaveLength(52);
    expect(plan(others(50)).slice(0, 2)).toMatchObject([{ action: 'create' }, { action: 'create' }]);
  });
});
