/** Tests of the headers that the gateway adds to requests (deploy/gateway/nginx.conf.template). */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { Client } from 'undici';
import { type TestGateway, testGateway } from './gateway.js';

let service: Server;
let gateway: TestGateway;
beforeAll(async () => {
  service = createServer((request, response) => {
    response.setHeader('x-request-id', 'known').end(JSON.stringify(request.headers));
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  const address = service.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  gateway = await testGateway({ AUTH_SERVER_ADDRESS: `127.0.0.1:${String(port)}` });
});
afterAll(async () => {
  await gateway.stop();
  service.close();
});

/** Returns the headers that a service receives for sequential requests over one connection. */
async function arriving(...requests: readonly Readonly<Record<string, string>>[]) {
  const client = new Client(gateway.url, { connect: { ca: gateway.ca } });
  const arrived: IncomingHttpHeaders[] = [];
  for (const headers of requests) {
    const response = await client.request({ method: 'GET', path: '/api/auth/jwks', headers });
    arrived.push(JSON.parse(await response.body.text()));
  }
  await client.close();
  return arrived;
}

it('sends the age of the connection with its first request, and removes this header from clients', async () => {
  const [first, second] = await arriving({}, { 'x-connection-age': '0.5' });
  expect(first?.['x-connection-age']).toMatch(/^\d+\.\d{3}$/);
  expect(Number(first?.['x-connection-age'])).toBeLessThan(5);
  expect(second).not.toHaveProperty('x-connection-age');
});

it('overwrites every forwarding header of a client', async () => {
  const lies = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-prefix', 'x-real-ip'];
  const [headers] = await arriving({
    ...Object.fromEntries(lies.map((name) => [name, 'evil.example'])),
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
