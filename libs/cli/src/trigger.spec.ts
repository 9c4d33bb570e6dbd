import { createStoreClient } from '@fulfilment/client/store';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FakeSuite, type LocalServer, serve } from './fake-suite.fixture.js';
import { type Operate, trigger } from './trigger.js';

let suite: FakeSuite & LocalServer;
beforeEach(async () => {
  suite = await FakeSuite.start();
});
afterEach(() => suite.stop());

function run(event: string, operate?: Operate, url = suite.url): Promise<void> {
  const client = createStoreClient({ baseUrl: `${url}/store`, auth: 'valid' });
  const terminal = { result: () => undefined, note: () => undefined };
  return trigger([event], { client, operate, product: undefined }, terminal, { json: true });
}

describe('trigger', () => {
  it.each(['order.shipped', 'order.payment_failed', 'product.in_stock'])(
    'requires a development suite for %s before it sends a request other than for the creator',
    async (event) => {
      await expect(run(event)).rejects.toThrow('name the folder of its clone with --clone');
      expect(suite.requests.filter((path) => path !== '/store/v1/creator')).toEqual([]);
    },
  );

  it('ships and delivers the order of a test creator through the API', async () => {
    const product = { id: 'prod_1', status: 'available', availability: { limited_edition: false } };
    const page = { data: [{ products: [product] }], pagination: { next_cursor: null, has_more: false } };
    const responses: Readonly<Record<string, object>> = {
      'GET /store/v1/creator': { id: 'cr_1', livemode: false },
      'GET /store/v1/releases': page,
      'POST /store/v1/shipping-rates': { data: [{ id: 'rate_1' }] },
      'POST /store/v1/orders': { id: 'ord_1' },
    };
    const reported: string[] = [];
    const api = await serve(({ method, url, body }, response) => {
      if (url.pathname === '/store/v1/test/orders/ord_1/events') reported.push(JSON.parse(body).event);
      const content = responses[`${method} ${url.pathname}`] ?? {};
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(content));
    });
    try {
      await run('order.delivered', undefined, api.url);
    } finally {
      await api.stop();
    }
    expect(reported).toEqual(['shipped', 'delivered']);
  });

  it('sets the payment method to pm_ok even if no order can be placed', async () => {
    const commands: string[] = [];
    const operate = (...command: readonly string[]) => Promise.resolve(void commands.push(command.join(' ')));
    await expect(run('order.payment_failed', operate)).rejects.toThrow('NOT_FOUND');
    expect(commands).toEqual([
      'creator payment-method cr_1 pm_declined',
      'creator payment-method cr_1 pm_ok',
    ]);
  });
});
