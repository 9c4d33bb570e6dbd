/** Tests of the gateway's request headers and documentation site (deploy/gateway/nginx.conf.template). */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'undici';
import { type TestGateway, testGateway } from './gateway.js';
import { listen } from '../listen.js';

let service: Awaited<ReturnType<typeof listen>>;
let gateway: TestGateway;
beforeAll(async () => {
  service = await listen(
    createServer((request, response) => {
      response.setHeader('x-request-id', 'known'); // the gateway recognises a service's response by it
      response.end(JSON.stringify(request.headers));
    }),
  );
  gateway = await testGateway({ AUTH_SERVER_ADDRESS: `127.0.0.1:${service.port}` });
});
afterAll(async () => {
  await gateway.stop();
  await service.close();
});

/** Returns the headers that a service receives for sequential requests over one connection. */
async function headersAtService(...requests: readonly Readonly<Record<string, string>>[]) {
  const client = new Client(gateway.url, { connect: { ca: gateway.ca } });
  const arrived: IncomingHttpHeaders[] = [];
  for (const headers of requests) {
    const response = await client.request({ method: 'GET', path: '/api/auth/jwks', headers });
    arrived.push(JSON.parse(await response.body.text()));
  }
  await client.close();
  return arrived;
}

it('the gateway sends the age of a connection with its first request, and removes this header of clients', async () => {
  const [first, second] = await headersAtService({}, { 'x-connection-age': '0.5' });
  expect(first?.['x-connection-age']).toMatch(/^\d+\.\d{3}$/);
  expect(Number(first?.['x-connection-age'])).toBeLessThan(60);
  expect(second).not.toHaveProperty('x-connection-age');
});

it('the gateway overwrites or removes every forwarding header of a client', async () => {
  const forwardingHeaders = [
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-port',
    'x-forwarded-prefix',
    'x-real-ip',
  ];
  const [headers] = await headersAtService({
    ...Object.fromEntries(forwardingHeaders.map((name) => [name, 'evil.example'])),
    'x-forwarded-proto': 'gopher',
    forwarded: 'host=evil.example',
  });
  expect(JSON.stringify(headers)).not.toMatch(/evil|gopher/);
  expect(headers).toMatchObject({
    host: new URL(gateway.url).host,
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'https',
  });
});

describe('the documentation site', () => {
  const directory = mkdtempSync(join(tmpdir(), 'site-'));
  let siteGateway: TestGateway;
  beforeAll(async () => {
    mkdirSync(join(directory, 'docs', '_astro'), { recursive: true });
    mkdirSync(join(directory, 'docs', 'guide'));
    for (const [file, text] of [
      ['index.html', 'first'],
      ['guide/index.html', 'guide'],
      ['guide.md', '# Guide'],
      ['404.html', 'missing'],
      ['_astro/a1b2.js', ''],
    ] as const)
      writeFileSync(join(directory, 'docs', file), text);
    siteGateway = await testGateway({}, { GATEWAY_SITE_DIR: directory });
  });
  afterAll(async () => {
    await siteGateway.stop();
    rmSync(directory, { recursive: true });
  });

  it.each([
    ['/docs/', 200, 'text/html', 'no-cache', 'first'],
    ['/docs/guide/', 200, 'text/html', 'no-cache', 'guide'],
    ['/docs/guide', 200, 'text/html', 'no-cache', 'guide'],
    ['/docs/guide.md', 200, 'text/markdown', 'no-cache', '# Guide'],
    ['/docs/_astro/a1b2.js', 200, 'text/javascript', 'public, max-age=31536000, immutable', ''],
    ['/docs/unknown', 404, 'text/html', 'no-store', 'missing'],
  ])(
    'responds at %s with status %i, type %s, caching %s and the security headers of the site',
    async (path, status, type, caching, text) => {
      const response = await siteGateway.fetch(`${siteGateway.url}${path}`);
      expect([response.status, await response.text()]).toEqual([status, text]);
      expect(response.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
      expect(response.headers.get('cache-control')).toBe(caching);
      expect(response.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'/,
      );
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    },
  );

  it('forbids caches to store an error, even if the request id looks like a path that may be stored', async () => {
    // Regression: the request id was once part of the caching key.
    const response = await siteGateway.fetch(`${siteGateway.url}/unknown`, {
      headers: { 'x-request-id': 'id:200:/docs/_astro/' },
    });
    expect(response.headers.get('x-request-id')).toBe('id:200:/docs/_astro/');
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('redirects /docs to /docs/', async () => {
    const response = await siteGateway.fetch(`${siteGateway.url}/docs`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([301, '/docs/']);
  });

  it('responds with the error envelope to a POST, and where the site does not exist', async () => {
    const post = await siteGateway.fetch(`${siteGateway.url}/docs/`, { method: 'POST' });
    const without = await gateway.fetch(`${gateway.url}/docs/guide/`);
    for (const response of [post, without]) {
      expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/json']);
      expect(await response.json()).toMatchObject({ statusCode: 404, code: 'NOT_FOUND' });
    }
  });
});
