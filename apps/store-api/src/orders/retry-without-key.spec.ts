import { ServiceUnavailable } from '@fulfilment/error-envelope';
import request from 'supertest';
import { PlaceOrder } from './place-order.js';
import { newKey, orderBody, startStoreApi, type StoreApiUnderTest } from '../store-api.fixture.js';

describe('POST /v1/orders without an idempotency-key', () => {
  let api: StoreApiUnderTest;
  let token: string;
  beforeAll(async () => {
    api = await startStoreApi({ RATE_LIMIT_ORDERS_CREATE: '2/3600' });
    ({ token } = await api.creator());
  });
  afterAll(() => api.stop());

  const place = (headers: Readonly<Record<string, string>> = {}) =>
    request(api.server)
      .post('/store/v1/orders')
      .auth(token, { type: 'bearer' })
      .set(headers)
      .send(orderBody('prod_none', 'rate_none'));

  it('returns 503 and 429 without Retry-After, unlike a request with a key', async () => {
    api.app.get(PlaceOrder).run = () => Promise.reject(new ServiceUnavailable());
    const unavailable = await place().expect(503);
    expect(unavailable.headers['retry-after']).toBeUndefined();
    expect((await place({ 'idempotency-key': newKey() }).expect(503)).headers['retry-after']).toBe('1');
    const limited = await place().expect(429);
    expect(limited.headers['retry-after']).toBeUndefined();
    expect(limited.headers['ratelimit']).toMatch(/^"orders-create";r=0;t=\d+$/);
    const withKey = await place({ 'idempotency-key': newKey() }).expect(429);
    expect(Number(withKey.headers['retry-after'])).toBeGreaterThan(0);
  });
});
