import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { App, register, thirdPartyRedirect } from '../test/app.fixture.js';
import { json } from '../test/json.fixture.js';
import { password } from '../test/users.fixture.js';
import { server, startServer } from '../test/server.fixture.js';

startServer();
let app: App;
beforeAll(async () => {
  app = await App.register(server);
});

/** Percent-encoded: U+0000, invalid UTF-8, a lone surrogate. */
const unstorable = ['%00', '%ff', '%ed%a0%80'];
const fetchOauth = (path: string, init?: RequestInit) =>
  server.fetch(`${server.url}/api/auth/oauth2/${path}`, init);

const forms: readonly (readonly [string, readonly string[]])[] = [
  ['token', ['grant_type', 'client_id', 'client_secret', 'client_assertion', 'code', 'redirect_uri', 'code_verifier', 'refresh_token', 'scope', 'other']], // prettier-ignore
  ['revoke', ['client_id', 'client_secret', 'token', 'token_type_hint']],
  ['introspect', ['client_id', 'client_secret', 'token', 'token_type_hint']],
  ['par', ['client_id', 'redirect_uri', 'scope', 'state', 'nonce', 'login_hint', 'code_challenge']],
  ['userinfo', ['access_token']],
];
// prettier-ignore
const queries = ['client_id', 'redirect_uri', 'scope', 'state', 'nonce', 'login_hint', 'request_uri', 'id_token_hint', 'creator', 'prompt', 'other'];

describe('text that cannot be stored', () => {
  it.each(forms.flatMap(([endpoint, names]) => names.map((name) => [endpoint, name] as const)))(
    'is rejected by POST %s in %s',
    async (endpoint, name) => {
      for (const value of unstorable) {
        const others = name === 'client_id' ? '' : `client_id=${app.clientId}&`;
        const response = await fetchOauth(endpoint, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: `${others}${name}=a${value}b`,
        });
        expect([value, response.status]).toEqual([value, 400]);
        expect((await json(response)).error).toBe('invalid_request');
      }
    },
  );

  it.each([
    ['par', 'application/x-www-form-urlencoded; profile=json', 'state=%00'],
    ['register', 'Application/JSON', '{"client_name":"a\\u0000b"}'],
  ])('is rejected by POST %s with the content type %s', async (endpoint, type, body) => {
    const response = await fetchOauth(endpoint, { method: 'POST', headers: { 'content-type': type }, body });
    expect(response.status).toBe(400);
    expect(await json(response)).toMatchObject({
      error: 'invalid_request',
      error_description: 'failed to parse the request body',
    });
  });

  it.each(queries)('is rejected by authorize and end-session in %s, with an error page', async (name) => {
    for (const path of ['authorize', 'end-session']) {
      for (const value of unstorable) {
        const others = name === 'client_id' ? '' : `client_id=${app.clientId}&`;
        const response = await fetchOauth(`${path}?${others}${name}=${value}`, { redirect: 'manual' });
        expect([value, response.status]).toEqual([value, 400]);
        expect(response.headers.get('content-type')).toContain('text/html');
      }
    }
  });

  it.each([
    ['client_name', 'a\0b'],
    ['client_name', 'a\ud800b'],
    ['client_uri', 'https://app.example/\0'],
    ['redirect_uris', [`${thirdPartyRedirect}\0`]],
    ['contacts', ['a\0@x.example']],
    ['scope', 'orders:read\0'],
    ['oth\0er', 'x'],
  ])('is rejected by register in %j: %j', async (name, value) => {
    const response = await register(server, { [name]: value });
    expect(response.status).toBe(400);
    expect((await json(response)).error).toBe('invalid_request');
  });

  it('is rejected in the Authorization header, in a client assertion and in cookies', async () => {
    const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'x', token: 'x' });
    for (const credentials of ['a\0:b', 'a%00:b', `${app.clientId}:%00`, 'a%ff:b']) {
      const headers = { authorization: `Basic ${btoa(credentials)}` };
      for (const endpoint of ['token', 'introspect', 'revoke']) {
        const response = await fetchOauth(endpoint, { method: 'POST', headers, body });
        expect(response.status).toBe(400);
        expect((await json(response)).error).toBe('invalid_request');
      }
    }
    const assertion = `e30.${Buffer.from('{"sub":"a\\u0000"}').toString('base64url')}.x`;
    const response = await fetchOauth('token', {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        client_assertion: assertion,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      }),
    });
    expect(response.status).toBe(400);
    const cookie = `__Host-session=${encodeURIComponent('a\0')}; __Secure-interaction=%00; __Secure-resume=%00`;
    const page = await server.fetch(`${server.url}/interaction/x`, { headers: { cookie } });
    expect(page.status).toBe(400);
  });

  // Without the gateway, which rejects some of these URLs itself.
  const fetchDirectly = (path: string, method = 'GET') => fetch(`${server.direct}${path}`, { method });

  it.each<[path: string, type: string]>([
    ['/interaction/%00', 'text/html'],
    ['/api/auth/oauth2/authorize/%00', 'text/html'],
    ['/api/auth/oauth2/register/%00', 'application/json'],
    ['/api/auth/%00', 'application/json'],
    ['/.well-known/openid-configuration/%00', 'application/json'],
    ['/%00', 'application/json'],
    ...unstorable.map((value): [string, string] => [`/account?done=${value}`, 'text/html']),
  ])('is rejected in the URL %s, in the error format of its path: %s', async (path, type) => {
    for (const method of ['GET', 'POST']) {
      const response = await fetchDirectly(path, method);
      expect(response.status).toBe(400);
      expect(response.headers.get('content-type')).toContain(type);
      if (type === 'application/json') expect(await json(response)).toHaveProperty('error');
    }
  });

  it.each([
    ['/interaction/%ff', 400], // as for an unknown sign-in
    ['/api/auth/oauth2/authorize/%ff', 400],
    ['/api/auth/oauth2/register/%ff', 401],
    ['/api/auth/%ff', 404],
    ['/.well-known/openid-configuration/%ff', 404],
    ['/%ff', 404],
  ])(
    'is handled as an unknown id in the path %s, with status %i, if it is invalid UTF-8 without U+0000',
    async (path, status) => {
      expect((await fetchDirectly(path)).status).toBe(status);
      expect((await fetchDirectly(path.replace('%ff', '%ed%a0%80'))).status).toBe(status);
    },
  );

  it('is reported with the part of the URL that contains it', async () => {
    for (const [path, field] of [
      ['/none/%00?a=b', 'path'],
      ['/none?a=%ff', 'query'],
      ['/api/auth/oauth2/register?a=%00', 'query'],
    ] as const)
      expect(await json(await fetchDirectly(path))).toMatchObject({
        details: [{ field, reason: 'malformed_encoding' }],
      });
  });

  it('is not accepted as e-mail address, password or form field', async () => {
    const { url } = await app.request('orders:read');
    const browser = new FormBrowser(server);
    const form = formOf(await browser.get(url), '/login');
    for (const fields of [
      { email: 'a\0@x.example', password },
      { email: 'owner@harbour.example\0', password },
      { email: 'owner@harbour.example', password: `${password}\0` },
    ]) {
      const shown = await browser.submit(form, fields);
      expect(shown.status).toBe(401);
      expect(shown.text).toContain('Incorrect e-mail address or password.');
    }
    expect((await browser.submit(form, { csrf: '\0' })).status).toBe(403);
    const consent = await browser.submit(form, { email: 'owner@harbour.example', password });
    const back = await browser.submit(formOf(consent, '/consent'));
    expect(back.url.searchParams.get('code')).toEqual(expect.any(String));
  });
});
