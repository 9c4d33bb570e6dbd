import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { metrics } from '@fulfilment/runtime';
import { type ClientRequest, type IncomingMessage, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import { App } from '../test/app.fixture.js';
import { json } from '../test/json.fixture.js';
import { password } from '../test/users.fixture.js';
import { server, startServer } from '../test/server.fixture.js';

startServer();
let app: App;
beforeAll(async () => {
  app = await App.register(server);
});

const metadataPaths = [
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server/api/auth',
  '/api/auth/.well-known/openid-configuration',
  '/.well-known/openid-configuration/api/auth',
];
const spoofedHeaders = {
  host: 'evil.example',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'gopher',
  'x-forwarded-port': '666',
  'x-forwarded-for': '203.0.113.9, 198.51.100.7',
  'x-forwarded-prefix': '/evil.example',
  forwarded: 'for=203.0.113.9;host=evil.example;proto=http',
};

it('accepts a request target with scheme and host, and ignores both (RFC 9112 §3.2.2)', async () => {
  const { hostname, port } = new URL(server.direct);
  const path = 'http://evil.example/api/auth/.well-known/openid-configuration';
  const response = await responseTo(requestByHttp({ hostname, port, path }));
  expect(JSON.parse(response.text)).toMatchObject({ issuer: `${server.url}/api/auth` });
});

it('counts and times requests by route', async () => {
  await get('/api/auth/oauth2/register/nobody', {});
  const text = await metrics.metrics();
  expect(text).toMatch(
    /^http_request_duration_seconds_count\{method="GET",route="\/api\/auth\/oauth2\/register",status="401"\} [1-9]/m,
  );
});

describe('metadata (RFC 8414 §3, OpenID Connect Discovery §4)', () => {
  it('is the same at all four URLs, even when a client sends Host, X-Forwarded-* and Forwarded of another host', async () => {
    const documents = await Promise.all(metadataPaths.map((path) => get(path, spoofedHeaders)));
    const unspoofed = await get(metadataPaths[0] ?? '', {});
    for (const document of documents) {
      expect(document.status).toBe(200);
      expect(document.headers['content-type']).toMatch(/^application\/json/);
      expect(document.headers['cache-control']).toBe('public, max-age=300');
      expect(document.text).toBe(unspoofed.text);
    }
    const at = (path: string) => `${server.url}/api/auth/${path}`;
    expect(JSON.parse(unspoofed.text)).toMatchObject({
      issuer: `${server.url}/api/auth`,
      authorization_endpoint: at('oauth2/authorize'),
      token_endpoint: at('oauth2/token'),
      registration_endpoint: at('oauth2/register'),
      userinfo_endpoint: at('oauth2/userinfo'),
      introspection_endpoint: at('oauth2/introspect'),
      revocation_endpoint: at('oauth2/revoke'),
      pushed_authorization_request_endpoint: at('oauth2/par'),
      end_session_endpoint: at('oauth2/end-session'),
      jwks_uri: at('jwks'),
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      introspection_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      id_token_signing_alg_values_supported: ['ES256', 'RS256'],
      dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']),
      authorization_response_iss_parameter_supported: true,
      claims_supported: expect.arrayContaining(['name', 'email', 'email_verified']),
    });
  });

  it('names the issuer of the settings even when headers of another host reach the server without the gateway', async () => {
    for (const path of metadataPaths) {
      const { text } = await responseTo(
        requestByHttp(`${server.direct}${path}`, { headers: spoofedHeaders }),
      );
      expect(JSON.parse(text)).toMatchObject({ issuer: `${server.url}/api/auth` });
      expect(text).not.toContain('evil.example');
    }
  });

  it('lists scopes that a client may request, and public subjects', async () => {
    const { scopes_supported, subject_types_supported } = JSON.parse(
      (await get(metadataPaths[0] ?? '', {})).text,
    );
    expect(scopes_supported).toEqual(
      expect.arrayContaining([
        'openid',
        'profile',
        'email',
        'offline_access',
        'orders:create',
        'orders:cancel',
      ]),
    );
    expect(subject_types_supported).toEqual(['public']);
  });
});

describe('redirects and URLs in responses', () => {
  it('have the issuer’s host at registration, and no host at authorize, even when a client sends another host', async () => {
    const { url } = await app.request('orders:read');
    const sent = await get(url.slice(server.url.length), spoofedHeaders);
    expect(sent.status).toBe(303);
    expect(sent.headers['location']).toMatch(/^\/interaction\//);
    const response = await server.fetch(`${server.url}/api/auth/oauth2/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-host': 'evil.example' },
      body: JSON.stringify({ redirect_uris: ['https://app.example/'], token_endpoint_auth_method: 'none' }),
    });
    expect((await json(response)).registration_client_uri).toMatch(`${server.url}/api/auth/oauth2/register/`);
  });
});

describe('the client address for quotas', () => {
  it('is what the gateway saw, not what the client sends in X-Forwarded-For', async () => {
    await server.fetch(`${server.url}/api/auth/oauth2/token`, {
      method: 'POST',
      headers: { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' },
    });
    expect(await server.redis.client.exists('rate:token:127.0.0.1')).toBe(1);
    expect(await server.redis.client.exists('rate:token:198.51.100.7', 'rate:token:203.0.113.9')).toBe(0);
  });
});

describe('cookies (RFC 6265bis §4.1.3)', () => {
  it('are limited to this host and TLS, HttpOnly and SameSite', async () => {
    const { url } = await app.request('openid');
    const browser = new FormBrowser(server);
    const before = await server.fetch(url, { redirect: 'manual' });
    const page = await browser.get(url);
    const sent = await server.fetch(new URL(formOf(page, '/login').action, server.url), {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: browser.cookieHeader(page.url) },
      body: new URLSearchParams({
        ...formOf(page, '/login').hidden,
        email: 'owner@harbour.example',
        password,
      }),
    });
    const resumed = await server.fetch(new URL(sent.headers.get('location') ?? '', server.url), {
      redirect: 'manual',
      headers: { cookie: browser.cookieHeader(new URL(sent.headers.get('location') ?? '', server.url)) },
    });
    const cookies = [before, sent, resumed].flatMap(({ headers }) => headers.getSetCookie());
    expect(cookies.some((cookie) => cookie.startsWith('__Host-session='))).toBe(true);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/^(__Host-(session|device)|__Secure-(interaction|resume))(\.sig)?=/);
      expect(cookie).toMatch(/; secure/i);
      expect(cookie).toMatch(/; httponly/i);
      expect(cookie).toMatch(/; samesite=lax/i);
      expect(cookie).not.toMatch(/; domain/i);
      if (cookie.startsWith('__Host-')) expect(cookie).toMatch(/; path=\/(;|$)/i);
    }
  });
});

/** Sends a request by node:https, which lets a client choose its Host header. */
function get(path: string, headers: Record<string, string>) {
  const options = { headers, ca: server.ca, servername: 'localhost', family: 4 };
  return responseTo(requestByHttps(`${server.url}${path}`, options));
}

async function responseTo(request: ClientRequest) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject).end();
  });
  return { status: response.statusCode, headers: response.headers, text: await readText(response) };
}
