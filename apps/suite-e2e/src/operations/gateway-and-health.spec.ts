import { eventually } from '@fulfilment/testing';
import { request as plainRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { send } from '../suite/api-client.js';
import { envelope, errorOf } from '../suite/error-envelope.js';
import { certificateAuthority, suite } from '../suite/the-suite.js';

/** Paths that no service serves, by what is wrong with them. */
const unservedPaths = {
  prefix: ['/store', '/creator', '/interaction', '/assets', '/api', '/.well-known/', '/gateway/malformed'],
  slashes: ['//', '//store/v1/orders', '/store//v1/orders', '/api/auth//token', '/store/v1/webhooks//'],
  parent: ['/store/%2e%2e/creator/api/v1/orders', '/store/../creator/api/v1/orders', '/store/..;/creator'],
  escapedParent: ['/store/..%2fcreator', '/store/v1/..%5c..', '/assets/%2e%2e/%2e%2e/package.json'],
  rootParent: ['/../../etc/passwd'],
  characters: ['/%00', '/store/%00', '/store/v1/orders/%00', '/store/a b', '/store/\u00e9', '*'],
  escapes: ['/%', '/store/%zz'],
  encoding: ['', '/store/v1/orders', '/creator', '/api/auth', '/account', '/store/v1/webhooks'].map(
    (prefix) => `${prefix}/%ff`,
  ),
};

describe('the gateway', () => {
  it.each(['/store', '/creator'])('serves the health of %s without a token', async (api) => {
    const live = await send('get', `${api}/health/live`).expect(200);
    expect(live.body).toEqual({ status: 'ok' });
    const ready = await eventually(async () => {
      const response = await send('get', `${api}/health/ready`);
      return response.status === 200 && response; // a busy store is not ready
    });
    expect(ready.body.status).toBe('ok');
    expect(new Set(Object.values(ready.body.checks))).toEqual(new Set(['ok']));
    expect(Object.keys(ready.body.checks)).toContain('postgres');
    expect(ready.headers['cache-control']).toBe('no-store');
    await send('get', `${api}/health/serving`).expect(200);
  });

  it('responds with the error envelope to a path of no service', async () => {
    const response = await send('get', '/nowhere').set('x-request-id', 'mine').expect(404);
    expect(errorOf(response).code).toBe('NOT_FOUND');
    expect(response.headers['x-request-id']).toBe('mine');
  });

  it.each(Object.values(unservedPaths).flat())(
    'responds to GET and POST of %s with the error envelope',
    async (path) => {
      for (const method of ['GET', 'POST']) {
        const { status, head, body } = await sendRaw(`${method} ${path}`);
        expect([400, 401, 404]).toContain(status); // 401: a service requires a token at this path
        expect(envelope.parse(JSON.parse(body)).statusCode).toBe(status);
        expect(head).toMatch(/content-type: application\/json/i);
        expect(head).toMatch(/x-request-id: ./i);
      }
    },
  );

  it.each([
    ['/store', 'Store API'],
    ['/creator', 'Creator API'],
  ])('serves the API reference of %s as JSON and as HTML', async (api, name) => {
    const { body } = await send('get', `${api}/openapi.json`).expect(200);
    expect(body.servers).toEqual([{ url: `${suite.base_url}${api}` }]);
    const { authorizationUrl } = body.components.securitySchemes.accessToken.flows.authorizationCode;
    expect(authorizationUrl).toBe(`${suite.auth_url}/api/auth/oauth2/authorize`);
    const page = await send('get', `${api}/docs`).expect(200);
    expect(page.text).toContain(`<title>${name} reference</title>`);
    expect(page.get('content-security-policy')).toContain("default-src 'none'");
    const etag = page.get('etag') ?? '';
    await send('get', `${api}/docs`).set('if-none-match', etag).expect(304);
  });

  it('does not serve metrics or message outcomes', async () => {
    for (const path of ['/metrics', '/store/metrics', '/messages/1', '/store/messages/1']) {
      expect(errorOf(await send('get', path)).code).toBe('NOT_FOUND');
    }
  });

  it('accepts HTTPS only', async () => {
    const { hostname, port } = new URL(suite.base_url);
    const status = await new Promise((resolve, reject) => {
      plainRequest({ hostname, port, path: '/store/health/live' }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .once('error', reject)
        .end();
    });
    expect(status).toBe(400);
  });

  it('sends Strict-Transport-Security, and neither a server version nor the name of a framework', async () => {
    const { headers } = await send('get', '/store/health/live');
    expect(headers['strict-transport-security']).toMatch(/^max-age=\d+/);
    expect(headers['x-powered-by']).toBeUndefined();
    expect(headers.server ?? '').not.toMatch(/\d/);
  });
});

/** Sends a raw request line (Latin-1), which HTTP clients would normalise. */
async function sendRaw(line: string): Promise<{ status: number; head: string; body: string }> {
  const { hostname, port } = new URL(suite.base_url);
  const socket = connect({ host: hostname, port: Number(port), ca: certificateAuthority });
  socket.write(`${line} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`, 'latin1');
  const response = await text(socket);
  const endOfHead = response.indexOf('\r\n\r\n');
  const head = response.slice(0, endOfHead);
  return { status: Number(head.split(' ')[1]), head, body: unchunked(head, response.slice(endOfHead + 4)) };
}

/** Returns the body without chunked transfer coding. The responses in this test fit into one chunk. */
function unchunked(head: string, body: string): string {
  return /transfer-encoding: chunked/i.test(head) ? (body.split('\r\n')[1] ?? '') : body;
}
