import { ServiceUnavailable } from '@fulfilment/error-envelope';
import { PlaceOrder } from './place-order.js';
import { newKey, orderBody, startStoreApi, type StoreApiUnderTest } from '../test/store-api.fixture.js';

describe('POST /v1/orders without an idempotency-key', () => {
  let store: StoreApiUnderTest;
  let token: string;
  beforeAll(async () => {
    store = await startStoreApi({ RATE_LIMIT_ORDERS_CREATE: '2/3600' });
    ({ token } = await store.creator());
  });
  afterAll(() => store.stop());

  const place = (idempotencyKey?: string) =>
    store.post('/store/v1/orders', token, orderBody('prod_none', 'rate_none'), idempotencyKey);

  it('returns 503 and 429 without Retry-After, unlike a request with a key', async () => {
    store.app.get(PlaceOrder).run = () => Promise.reject(new ServiceUnavailable());
    const unavailable = await place().expect(503);
    expect(unavailable.headers['retry-after']).toBeUndefined();
    expect((await place(newKey()).expect(503)).headers['retry-after']).toBe('1');
    // The two requests have used the quota of this hour.
    const limited = await place().expect(429);
    expect(limited.headers['retry-after']).toBeUndefined();
    expect(limited.headers['ratelimit']).toMatch(/^"orders-create";r=0;t=\d+$/);
    const withKey = await place(newKey()).expect(429);
    expect(Number(withKey.headers['retry-after'])).toBeGreaterThan(0);
  });
});
