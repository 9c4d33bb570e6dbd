/** Tests of the gateway's limits and of its own error responses (deploy/gateway/nginx.conf.template). */
import { createServer, type ServerResponse } from 'node:http';
import { eventually } from '../eventually.js';
import { type TestGateway, testGateway } from './gateway.js';
import { listen } from '../listen.js';

describe('the limits of the gateway', () => {
  let service: Awaited<ReturnType<typeof listen>>;
  let gateway: TestGateway;
  let waiting: ServerResponse[];
  beforeAll(async () => {
    waiting = [];
    service = await listen(
      createServer((request, response) => {
        response.setHeader('x-request-id', 'known'); // the gateway recognises a service's response by it
        if (request.url === '/store/v1/slow') waiting.push(response);
        else response.end('{}');
      }),
    );
    gateway = await testGateway(
      { STORE_API_ADDRESS: `127.0.0.1:${service.port}` },
      {
        GATEWAY_CONNECTIONS_PER_CLIENT: '3',
        GATEWAY_REQUESTS_PER_SECOND: '1',
        GATEWAY_REQUEST_BURST: '4',
        GATEWAY_REAL_IP_LINES: 'set_real_ip_from 127.0.0.1; real_ip_header X-Test-Address;',
      },
    );
  });
  afterAll(async () => {
    await gateway.stop();
    await service.close();
  });

  const send = (from: string, path = '/store/v1/creator', init: RequestInit = {}) =>
    gateway.fetch(`${gateway.url}${path}`, { ...init, headers: { ...init.headers, 'x-test-address': from } });
  /** Sends requests one after another, each from the next address. Returns the first rejection. */
  const untilRejected = (nextAddress: () => string, init: RequestInit = {}) =>
    eventually(async () => {
      const response = await send(nextAddress(), '/store/v1/creator', init);
      return response.status === 429 ? response : undefined;
    });

  it('reject requests above the rate and the burst with 429 in the envelope', async () => {
    // One request, and a burst of four.
    for (let request = 0; request < 5; request += 1) expect((await send('198.51.100.1')).status).toBe(200);
    const rejected = await untilRejected(() => '198.51.100.1', { headers: { 'x-request-id': 'mine' } });
    expect(rejected.headers.get('retry-after')).toBe('1');
    expect(rejected.headers.get('content-type')).toBe('application/json');
    expect(rejected.headers.get('x-request-id')).toBe('mine');
    expect(rejected.headers.get('cache-control')).toBe('no-store');
    expect(rejected.headers.get('access-control-allow-origin')).toBe('*');
    expect(rejected.headers.get('access-control-expose-headers')).toContain('Retry-After');
    expect(await rejected.json()).toEqual({
      statusCode: 429,
      code: 'RATE_LIMITED',
      error: 'Too Many Requests',
      message: expect.any(String),
    });
    expect((await send('198.51.100.2')).status).toBe(200); // another client
  });

  it('count the addresses of an IPv6 /64 as one client, and another /64 separately', async () => {
    let host = 0;
    await untilRejected(() => {
      host += 1;
      return `2001:db8:1:2::${host.toString(16)}`;
    });
    expect((await send('2001:db8:1:3::1')).status).toBe(200);
  });

  it('count an IPv4-mapped IPv6 address as the IPv4 address', async () => {
    let host = 0;
    // The limit allows a further request after a pause between the two. If so, the next address is tried.
    await eventually(async () => {
      host += 1;
      await untilRejected(() => `::ffff:203.0.113.${host}`);
      return (await send(`203.0.113.${host}`)).status === 429;
    });
    expect((await send('::ffff:198.51.100.4')).status).toBe(200); // another client, in the same /64
  });

  it('reject more concurrent requests than a client may have, until one has ended', async () => {
    const slow = Array.from({ length: 3 }, () => send('198.51.100.5', '/store/v1/slow'));
    await eventually(() => waiting.length === 3);
    const rejected = await send('198.51.100.5');
    expect(rejected.status).toBe(429);
    expect(await rejected.json()).toMatchObject({ code: 'RATE_LIMITED' });
    expect((await send('198.51.100.6')).status).toBe(200);
    for (const response of waiting.splice(0)) response.end('{}');
    await Promise.all(slow);
    await eventually(async () => (await send('198.51.100.5')).status === 200);
  });
});

describe('the 503 response of the gateway', () => {
  let withoutServices: TestGateway;
  beforeAll(async () => {
    withoutServices = await testGateway({});
  });
  afterAll(() => withoutServices.stop());
  const post = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    withoutServices.fetch(`${withoutServices.url}${path}`, { method: 'POST', headers, body: '{}' });

  it('has Retry-After, except for an order without an idempotency key', async () => {
    const retryAfter = async (response: Promise<Response>) => {
      const { status, headers } = await response;
      return [status, headers.get('retry-after')];
    };
    expect(await retryAfter(post('/store/v1/orders', { 'idempotency-key': 'a' }))).toEqual([503, '1']);
    expect(await retryAfter(post('/store/v1/orders'))).toEqual([503, null]);
    expect(await retryAfter(post('/store/v1/orders?a=b'))).toEqual([503, null]);
    expect(await retryAfter(post('/store/v1/shipping-rates'))).toEqual([503, '1']);
    expect(await retryAfter(withoutServices.fetch(`${withoutServices.url}/store/v1/orders`))).toEqual([
      503,
      '1',
    ]);
  });
});
