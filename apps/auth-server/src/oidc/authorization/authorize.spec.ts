import { FormBrowser, type Page } from '@fulfilment/testing/form-browser';
import { App, manageClient, registerClient, thirdPartyRedirect } from '../../test/app.fixture.js';
import { server, startServer } from '../../test/server.fixture.js';

startServer();
let app: App;
beforeAll(async () => {
  app = await App.register(server);
});

/** The example of RFC 7636, appendix B. */
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
/** A list sends a parameter repeatedly; undefined omits it. */
type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>;
const queryOf = (parameters: Parameters): URLSearchParams => {
  const all: Parameters = {
    response_type: 'code',
    client_id: app.clientId,
    redirect_uri: thirdPartyRedirect,
    scope: 'orders:read',
    state: 'the-state',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...parameters,
  };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(all))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined) query.append(name, each);
  return query;
};
const authorize = (parameters: Parameters) =>
  new FormBrowser(server).get(`${server.url}/api/auth/oauth2/authorize?${queryOf(parameters).toString()}`);
const authorizationResponse = ({ url }: Page) => url.searchParams;

describe('PKCE at authorize', () => {
  it.each([
    ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }],
    ['with the plain method', { code_challenge_method: 'plain' }],
    ['without a method, which would mean plain', { code_challenge_method: undefined }],
    ['with a challenge of 42 characters', { code_challenge: challenge.slice(1) }],
    ['with a challenge of 129 characters', { code_challenge: 'x'.repeat(129) }],
    ['with a challenge of other characters', { code_challenge: `${challenge.slice(1)}*` }],
  ])('rejects a request %s (RFC 7636 §4.4.1, RFC 9700 §2.1.1)', async (_, parameters) => {
    const shown = await authorize(parameters);
    expect(shown.url.origin + shown.url.pathname).toBe(thirdPartyRedirect);
    expect(Object.fromEntries(shown.url.searchParams)).toMatchObject({
      error: 'invalid_request',
      state: 'the-state',
      iss: `${server.url}/api/auth`,
    });
    expect(shown.url.searchParams.has('code')).toBe(false);
  });
});

describe('an authorization request that is posted', () => {
  it('is rejected with 404', async () => {
    const init = { method: 'POST', body: queryOf({}) };
    const response = await server.fetch(`${server.url}/api/auth/oauth2/authorize`, init);
    expect(response.status).toBe(404);
  });
});

describe('a scope', () => {
  it.each([
    ['unknown', 'orders:read orders:destroy'],
    ['missing', undefined],
    ['empty', ''],
    ['in another case', 'Orders:read'],
  ])('that is %s is rejected with invalid_scope (RFC 6749 §4.1.2.1)', async (_, scope) => {
    const { searchParams } = (await authorize({ scope })).url;
    expect(searchParams.get('error')).toBe('invalid_scope');
    expect(searchParams.get('state')).toBe('the-state');
  });
});

describe('an invalid authorization request', () => {
  it.each(['none', 'nonsense'])(
    'with response_type %s is rejected with unsupported_response_type (RFC 6749 §4.1.2.1)',
    async (response_type) => {
      const shown = await authorize({ response_type });
      expect(authorizationResponse(shown).get('error')).toBe('unsupported_response_type');
    },
  );

  it.each(['token', 'id_token', 'code id_token', 'code token'])(
    'of the implicit or hybrid flow (%s) is rejected in the fragment, where its app reads the error (RFC 6749 §4.2.2.1)',
    async (response_type) => {
      const { search, hash } = (await authorize({ response_type, nonce: 'n' })).url;
      expect(search).toBe('');
      expect(new URLSearchParams(hash.slice(1)).get('error')).toBe('unsupported_response_type');
    },
  );

  it('is rejected with invalid_request when response_type is missing (RFC 6749 §3.1.1)', async () => {
    expect(authorizationResponse(await authorize({ response_type: undefined })).get('error')).toBe(
      'invalid_request',
    );
  });

  it.each([
    'client_id',
    'redirect_uri',
    'response_type',
    'scope',
    'state',
    'nonce',
    'code_challenge',
    'code_challenge_method',
    'prompt',
    'creator',
    'max_age',
  ])('with %s twice is rejected, and returns no code (RFC 6749 §3.1)', async (name) => {
    const value = queryOf({ nonce: 'n', prompt: 'none', creator: 'c', max_age: '10' }).get(name) ?? '';
    const shown = await authorize({ [name]: [value, value] });
    expect(shown.forms.some(({ action }) => action.endsWith('/login'))).toBe(false);
    expect(authorizationResponse(shown).has('code')).toBe(false);
    const isRejected =
      shown.status === 400 || authorizationResponse(shown).get('error') === 'invalid_request';
    expect(isRejected).toBe(true);
    // With two redirect URIs, the server does not know which one is correct, so there is no redirect.
    if (name === 'redirect_uri' || name === 'client_id') expect(shown.url.origin).toBe(server.url);
  });

  const registerAndDeleteClient = async () => {
    const newClient = await registerClient(server);
    await manageClient(server, 'DELETE', newClient);
    return newClient.client_id;
  };
  it.each([
    ['unknown', () => 'nobody'],
    ['missing', () => undefined],
    ['deleted', registerAndDeleteClient],
  ])('of a client that is %s gets an error page, not a redirect', async (_, clientId) => {
    const shown = await authorize({ client_id: await clientId() });
    expect(shown.url.origin).toBe(server.url);
    expect(shown.status).toBe(400);
    expect(shown.headers.get('content-type')).toContain('text/html');
  });

  it('gets an error page without the markup that the request contains', async () => {
    const shown = await authorize({ client_id: '<script>alert(1)</script>', state: '"><script>' });
    expect(shown.status).toBe(400);
    expect(shown.text).not.toContain('<script');
  });
});

describe('an unregistered redirect URI never gets a redirect (RFC 9700 §4.1.3)', () => {
  it.each([
    ['a suffix', `${thirdPartyRedirect}/more`],
    ['a trailing slash', `${thirdPartyRedirect}/`],
    ['a query', `${thirdPartyRedirect}?x=1`],
    ['an empty query', `${thirdPartyRedirect}?`],
    ['another case in the path', 'https://app.example/Callback'],
    ['another case in the host', 'https://APP.example/callback'],
    ['another case in the scheme', 'HTTPS://app.example/callback'],
    ['a port', 'https://app.example:444/callback'],
    ['the default port', 'https://app.example:443/callback'],
    ['a fragment', `${thirdPartyRedirect}#x`],
    ['an empty fragment', `${thirdPartyRedirect}#`],
    ['user information before another host', 'https://app.example@evil.example/callback'],
    ['user information', 'https://user@app.example/callback'],
    ['a trailing dot in the host', 'https://app.example./callback'],
    ['an encoded dot', 'https://app%2eexample/callback'],
    ['an encoded letter', 'https://app.example/%63allback'],
    ['an encoded dot segment', 'https://app.example/%2e%2e/callback'],
    ['a backslash', 'https://app.example\\@evil.example/callback'],
    ['a backslash in the path', 'https://app.example\\callback'],
    ['plain http', 'http://app.example/callback'],
    ['a path that leads back', 'https://app.example/x/../callback'],
    ['a subdomain', 'https://x.app.example/callback'],
    ['another host', 'https://evil.example/callback'],
    ['no scheme', '//app.example/callback'],
    ['a script', 'javascript:alert(1)'],
    ['a space before', ` ${thirdPartyRedirect}`],
    ['an empty URI', ''],
    ['no URI', undefined],
  ])('%s', async (_, redirect_uri) => {
    // The last two also have an error that a redirect would report to the app.
    for (const wrong of [{}, { scope: 'unknown' }, { prompt: 'none' }]) {
      const shown = await authorize({ redirect_uri, ...wrong });
      expect(shown.url.origin).toBe(server.url);
      expect(shown.status).toBe(400);
      expect(shown.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    }
  });
});

describe('a redirect URI on a loopback address', () => {
  it('matches with another port, but with no other difference (RFC 8252 §7.3)', async () => {
    const redirect_uris = [
      'http://127.0.0.1/callback',
      'http://[::1]:1000/callback',
      'com.example.app:/callback',
    ];
    const { client_id } = await registerClient(server, { redirect_uris });
    for (const redirect_uri of [
      'http://127.0.0.1/callback',
      'http://127.0.0.1:49152/callback',
      'http://[::1]:2000/callback',
      'com.example.app:/callback',
    ]) {
      expect((await authorize({ client_id, redirect_uri })).url.pathname).toMatch(/^\/interaction\//);
    }
    for (const redirect_uri of [
      'http://127.0.0.1:49152/other',
      'http://127.0.0.1:49152/callback?x=1',
      'https://127.0.0.1:49152/callback',
      'http://127.0.0.2:49152/callback',
      'http://localhost:49152/callback',
      'http://user@127.0.0.1:49152/callback',
      'com.example.app:/other',
      'com.example.other:/callback',
    ]) {
      expect((await authorize({ client_id, redirect_uri })).status).toBe(400);
    }
  });
});

describe('the authorization endpoint', () => {
  it('accepts no request object (RFC 9101), neither by value nor by reference', async () => {
    const byValue = await authorize({ request: 'e30.e30.' });
    expect(byValue.url.searchParams.get('error')).toBe('request_not_supported');
    const byReference = await authorize({ request_uri: 'https://evil.example/request' });
    expect(byReference.url.searchParams.get('error')).toBe('request_uri_not_supported');
  });

  it.each([
    ['resource', 'https://other.example/'],
    ['claims', '{"id_token":{"email":null}}'],
    ['unheard_of', 'x'],
  ])('ignores the unsupported parameter %s (RFC 6749 §3.1)', async (name, value) => {
    expect((await authorize({ [name]: value })).url.pathname).toMatch(/^\/interaction\//);
  });
});

it.each([
  ['form_post', 'invalid_request'],
  ['fragment', 'invalid_request'],
  ['jwt', 'unsupported_response_mode'],
])('rejects response_mode %s with %s, which it returns in the query', async (response_mode, error) => {
  const shown = await authorize({ response_mode, prompt: 'none' });
  expect(Object.fromEntries(shown.url.searchParams)).toMatchObject({ error, state: 'the-state' });
});

it.each(['form_post', 'fragment'])(
  'returns an error that it finds before response_mode %s in the query, too',
  async (response_mode) => {
    const shown = await authorize({ response_mode, code_challenge_method: 'plain' });
    expect(authorizationResponse(shown).get('error')).toBe('invalid_request');
  },
);

it('reports to the app that state is too large, without returning it (RFC 6749 §4.1.2.1)', async () => {
  const { url } = await app.request('orders:read', { state: 'x'.repeat(2_049) });
  const response = await server.fetch(url, { redirect: 'manual' });
  const sent = new URL(response.headers.get('location') ?? '');
  expect(`${sent.origin}${sent.pathname}`).toBe(app.redirectUri);
  expect(sent.searchParams.get('error')).toBe('invalid_request');
  expect(sent.searchParams.get('error_description')).toBe('state must be at most 2048 characters');
  expect(sent.searchParams.has('state')).toBe(false);
});
