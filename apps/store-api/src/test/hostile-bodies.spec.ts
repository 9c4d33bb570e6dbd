import { expectNoLongBlock } from '@fulfilment/testing';
import { orderBody, startStoreApi, type StoreApiUnderTest, type Creator } from './store-api.fixture.js';

let store: StoreApiUnderTest;
let creator: Creator;
let url: string;
beforeAll(async () => {
  store = await startStoreApi();
  creator = await store.creator();
  url = await store.app.getUrl();
});
afterAll(() => store.stop());

/** Twice the default number of hostile bodies, since an order has the most members. */
const runsForOrders = 120;

const sendTo = (path: string) => async (body: string) => {
  const response = await fetch(`${url}/store${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${creator.token}`, 'content-type': 'application/json' },
    body,
  });
  expect(response.status).toBeLessThan(500);
  await response.arrayBuffer();
};

describe('a request body of up to 256 KiB blocks the event loop of the Store API for at most 50 ms', () => {
  it(
    'when an order is placed',
    () =>
      expectNoLongBlock(
        {
          ...orderBody('prod_none', 'rate_none'),
          source: { platform: 'shopify', store_id: 'harbour', external_order_id: '#1' },
          metadata: { cart: 'c_8841' },
        },
        sendTo('/v1/orders'),
        runsForOrders,
      ),
    120_000, // milliseconds for all bodies
  );

  it(
    'when shipping rates are quoted',
    () =>
      expectNoLongBlock(
        { country_code: 'GB', items: [{ sku: 'prod_none', quantity: 1 }] },
        sendTo('/v1/shipping-rates'),
      ),
    120_000, // milliseconds for all bodies
  );
});
