import { cancelOrder, createStoreClient, deleteWebhook, placeOrder, quoteRates, readOrder } from './store.js';
import { failure, FakeApi, hangUp, json, type Reply } from './fake-api.fixture.js';

const api = new FakeApi();
beforeAll(() => api.start());
afterAll(() => api.stop());

const order = { id: 'ord_1', status: 'processing' };
const path = { id: 'ord_1' };
const orderBody = {
  items: [{ sku: 'prod_1', quantity: 1, unit_price: { amount: 1099, currency: 'GBP' as const } }],
  shipping_rate_id: 'rate_1',
  shipping_address: {
    full_name: 'Aiko Mori',
    address_line_1: '1 Quay Street',
    city: 'London',
    postal_code: 'N1 1AA',
    country_code: 'GB' as const,
  },
};

describe('a client', () => {
  it.each([429, 503])('repeats a request with status %d after the seconds in Retry-After', async (status) => {
    api.reply(failure(status, 'TRANSIENT', { 'retry-after': '2' }), json(200, order));
    const { data } = await readOrder({ client: createStoreClient(api.options()), path });
    expect(data.id).toBe('ord_1');
    expect(api.waitsMs).toEqual([2000]);
  });

  it('adds jitter to Retry-After, so that not all clients retry at the same time', async () => {
    api.reply(failure(429, 'RATE_LIMITED', { 'retry-after': '2' }), json(200, order));
    await readOrder({ client: createStoreClient({ ...api.options(), random: () => 1 }), path });
    expect(api.waitsMs).toEqual([2500]);
  });

  it('reads a date in Retry-After, and does not wait for one in the past', async () => {
    api.reply(
      failure(503, 'SERVICE_UNAVAILABLE', { 'retry-after': new Date(Date.now() - 5000).toUTCString() }),
      json(200, order),
    );
    await readOrder({ client: createStoreClient(api.options()), path });
    expect(api.waitsMs).toEqual([0]);
  });

  it('leaves a Retry-After of more than a minute to the caller', async () => {
    api.reply(failure(429, 'RATE_LIMITED', { 'retry-after': '61' }));
    await expect(readOrder({ client: createStoreClient(api.options()), path })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterMs: 61_000,
    });
    expect(api.requests).toHaveLength(1);
  });

  it('doubles the wait without Retry-After up to 8 s, and gives up after the allowed retries', async () => {
    api.reply(failure(503, 'SERVICE_UNAVAILABLE'));
    const client = createStoreClient({ ...api.options(), random: () => 1, maxRetries: 6 });
    await expect(readOrder({ client, path })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(api.waitsMs).toEqual([500, 1000, 2000, 4000, 8000, 8000]);
    expect(api.requests).toHaveLength(7);
  });

  it.each([400, 403, 404, 409, 422, 500])('does not repeat a request with status %d', async (status) => {
    api.reply(failure(status, 'REJECTED'));
    await expect(
      placeOrder({ client: createStoreClient(api.options()), body: orderBody }),
    ).rejects.toMatchObject({ statusCode: status });
    expect(api.requests).toHaveLength(1);
  });

  it('repeats an order with the same key and body when the connection breaks, and when a 503 follows', async () => {
    api.reply(hangUp, failure(503, 'SERVICE_UNAVAILABLE'), json(201, order));
    await placeOrder({ client: createStoreClient(api.options()), body: orderBody });
    const [first, ...repeated] = api.requests;
    expect(first?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(first?.body ?? '')).toEqual(orderBody);
    for (const request of repeated) {
      expect(request.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
      expect(request.body).toBe(first?.body);
    }
    expect(repeated).toHaveLength(2);
  });

  it('repeats an order after 409 with Retry-After, since the first request with its key may still run', async () => {
    api.reply(hangUp, failure(409, 'CONFLICT', { 'retry-after': '1' }), json(201, order));
    const { data } = await placeOrder({ client: createStoreClient(api.options()), body: orderBody });
    expect(data.id).toBe('ord_1');
    expect(api.waitsMs).toEqual([250, 1000]);
  });

  it('sends a key with the cancellation of an order, whose path has a parameter', async () => {
    api.reply(json(200, order));
    await cancelOrder({ client: createStoreClient(api.options()), path, body: {} });
    expect(api.requests[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("sends the caller's key if there is one", async () => {
    api.reply(json(201, order));
    const headers = { 'idempotency-key': 'order-1042' };
    await placeOrder({ client: createStoreClient(api.options()), body: orderBody, headers });
    expect(api.requests[0]?.headers['idempotency-key']).toBe('order-1042');
  });

  it.each<[when: string, reply: Reply]>([
    ['the connection breaks', hangUp],
    ['the service is unavailable without Retry-After', failure(503, 'SERVICE_UNAVAILABLE')],
    ...['1.5', '-1', '+1', 'soon 1', '1.5 GMT'].map((value): [string, Reply] => [
      `Retry-After is malformed: ${value}`,
      failure(503, 'SERVICE_UNAVAILABLE', { 'retry-after': value }),
    ]),
  ])('does not repeat a POST without a key when %s', async (_when, reply) => {
    api.reply(reply, json(200, { data: [] }));
    const body = { country_code: 'GB' as const };
    await expect(quoteRates({ client: createStoreClient(api.options()), body })).rejects.toThrow();
    expect(api.requests).toHaveLength(1);
    expect(api.requests[0]?.headers['idempotency-key']).toBeUndefined();
  });

  it('repeats a POST without a key after Retry-After, because it had no effect', async () => {
    api.reply(failure(429, 'RATE_LIMITED', { 'retry-after': '1' }), json(200, { data: [] }));
    const body = { country_code: 'GB' as const };
    await quoteRates({ client: createStoreClient(api.options()), body });
    expect(api.requests.map((request) => request.body)).toEqual(Array(2).fill(JSON.stringify(body)));
  });

  it('repeats a read whose body breaks off', async () => {
    api.reply(
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
        response.write('{"id":', () => response.destroy());
      },
      json(200, order),
    );
    const { data } = await readOrder({ client: createStoreClient(api.options()), path });
    expect(data.id).toBe('ord_1');
  });

  it.each([
    ['response was lost', hangUp],
    ['attempt may have had its effect', failure(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '1' })],
  ])('counts 404 as success for a DELETE whose earlier %s', async (_what, first) => {
    api.reply(first, failure(404, 'NOT_FOUND'));
    const { response } = await deleteWebhook({ client: createStoreClient(api.options()), path });
    expect(response.status).toBe(204);
    expect(api.requests).toHaveLength(2);
  });

  it.each([
    ['it is the first response', [failure(404, 'NOT_FOUND')]],
    [
      'the attempt before it was a 429 with Retry-After, and so had no effect',
      [failure(429, 'RATE_LIMITED', { 'retry-after': '1' }), failure(404, 'NOT_FOUND')],
    ],
    [
      'the attempt before it was a 429 of a proxy, without Retry-After',
      [failure(429, 'RATE_LIMITED'), failure(404, 'NOT_FOUND')],
    ],
  ])('reports 404 of a DELETE as an error if %s', async (_what, replies) => {
    api.reply(...replies);
    await expect(deleteWebhook({ client: createStoreClient(api.options()), path })).rejects.toMatchObject({
      statusCode: 404,
    });
  });
});
