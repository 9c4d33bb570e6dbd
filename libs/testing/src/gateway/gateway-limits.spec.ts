/**
 * Tests of the gateway's limits per client and of its own error responses
 * (deploy/gateway/nginx.conf.template).
 */
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
        response.setHeader('x-request-id', 'known');
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
  /** Returns the statuses of requests that these addresses send one after another, faster than the rate. */
  async function statuses(...addresses: readonly string[]): Promise<number[]> {
    const found: number[] = [];
    for (const address of addresses) found.push((await send(address)).status);
    return found;
  }

  it('reject requests above the rate and the burst with 429 in the envelope', async () => {
    const all = await statuses(...Array<string>(8).fill('198.51.100.1'));
    expect(all.slice(0, 5)).toEqual([200, 200, 200, 200, 200]);
    expect(all).toContain(429);
    const rejected = await eventually(async () => {
      const response = await send('198.51.100.1', '/store/v1/creator', {
        headers: { 'x-request-id': 'mine' },
      });
      return response.status === 429 ? response : undefined;
    });
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
    expect((await send('198.51.100.2')).status).toBe(200);
  });

  it('count the addresses of an IPv6 /64 as one client, and another /64 separately', async () => {
    const hosts = Array.from({ length: 8 }, (_, host) => `2001:db8:1:2::${host + 1}`);
    expect(await statuses(...hosts)).toContain(429);
    expect(await statuses('2001:db8:1:3::1')).toEqual([200]);
  });

  it('count an IPv4-mapped IPv6 address as the IPv4 address', async () => {
    expect(await statuses(...Array<string>(8).fill('::ffff:198.51.100.3'))).toContain(429);
    expect(await statuses('198.51.100.3', '198.51.100.3')).toContain(429);
    expect(await statuses('::ffff:198.51.100.4')).toEqual([200]);
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
