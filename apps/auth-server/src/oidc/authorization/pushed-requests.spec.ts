import { FormBrowser } from '@fulfilment/testing/form-browser';
import * as client from 'openid-client';
import { App, thirdPartyRedirect } from '../../test/app.fixture.js';
import { json } from '../../test/json.fixture.js';
import { server, startServer } from '../../test/server.fixture.js';

startServer();
let app: App;
beforeAll(async () => {
  app = await App.register(server);
});

const verifier = client.randomPKCECodeVerifier();
/** Pushes a valid request. `parameters` override its own; undefined omits one. */
const push = async (parameters: Readonly<Record<string, string | undefined>> = {}, by = app) => {
  const form: Record<string, string | undefined> = {
    response_type: 'code',
    redirect_uri: thirdPartyRedirect,
    scope: 'orders:read offline_access',
    state: 'the-state',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...parameters,
  };
  const response = await by.post(
    'par',
    Object.fromEntries(
      Object.entries(form).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
  );
  return { status: response.status, body: await json(response), headers: response.headers };
};
const openRequest = (requestUri: string, clientId = app.clientId) =>
  new FormBrowser(server).get(
    `${server.url}/api/auth/oauth2/authorize?${new URLSearchParams({ client_id: clientId, request_uri: requestUri }).toString()}`,
  );

describe('pushed authorization requests (RFC 9126)', () => {
  it('return a request URI for the authorize endpoint (§2.2)', async () => {
    const { status, body, headers } = await push();
    expect(status).toBe(201);
    expect(body).toEqual({
      request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:/),
      expires_in: expect.any(Number),
    });
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('are rejected when a parameter, or their total, is too large (§2.3)', async () => {
    expect((await push({ state: 'x'.repeat(2_048) })).status).toBe(201);
    const withLongState = await push({ state: 'x'.repeat(2_049) });
    expect([withLongState.status, withLongState.body]).toEqual([
      400,
      { error: 'invalid_request', error_description: 'state must be at most 2048 characters' },
    ]);
    const fiveLongParameters = Object.fromEntries(
      ['state', 'nonce', 'login_hint', 'acr_values', 'ui_locales'].map((name) => [name, 'x'.repeat(2_000)]),
    );
    const withLongTotal = await push({ ...fiveLongParameters, scope: 'openid orders:read' });
    expect([withLongTotal.status, withLongTotal.body]).toEqual([
      400,
      { error: 'invalid_request', error_description: 'parameters must be at most 8192 characters in total' },
    ]);
  });

  it('lead to tokens, keep offline_access, and are accepted once', async () => {
    const url = await client.buildAuthorizationUrlWithPAR(app.configuration, {
      redirect_uri: app.redirectUri,
      scope: 'orders:read offline_access',
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const { browser, shown } = await app.authorize('openid'); // signs the browser in
    expect(shown.url.searchParams.has('code')).toBe(true);
    const consent = await browser.get(url.href);
    const [form] = consent.forms;
    if (form === undefined) throw new Error('Expected the consent page.');
    const back = await browser.submit(form);
    const tokens = await client.authorizationCodeGrant(app.configuration, back.url, {
      pkceCodeVerifier: verifier,
    });
    expect(tokens.scope).toBe('orders:read offline_access');
    expect(tokens.refresh_token).toEqual(expect.any(String));
    const repeated = await browser.get(url.href);
    expect([repeated.status, repeated.url.origin]).toEqual([400, server.url]);
  });

  it.each([
    ['without a redirect URI', { redirect_uri: undefined }, /^invalid_request$/],
    [
      'with a redirect URI that is not registered',
      { redirect_uri: 'https://evil.example/' },
      /^(invalid_request|invalid_redirect_uri)$/,
    ],
    ['without response_type', { response_type: undefined }, /^invalid_request$/],
    ['of another response_type', { response_type: 'token' }, /^unsupported_response_type$/],
    ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }, /^invalid_request$/],
    ['with plain PKCE', { code_challenge_method: 'plain' }, /^invalid_request$/],
    ['without scope', { scope: undefined }, /^invalid_scope$/],
    ['for an unknown scope', { scope: 'orders:destroy' }, /^invalid_scope$/],
    ['with a request_uri (§2.1)', { request_uri: 'urn:x' }, /^(invalid_request|request_uri_not_supported)$/],
  ])('%s are rejected immediately (§2.3)', async (_, parameters, error) => {
    const { status, body } = await push(parameters);
    expect(status).toBe(400);
    expect(body.error).toMatch(error);
    expect(body).not.toHaveProperty('request_uri');
  });

  it('are rejected with invalid_client without client authentication (§2)', async () => {
    const confidential = await App.register(server, { token_endpoint_auth_method: 'client_secret_basic' });
    const { status, body } = await push({}, confidential); // `push` sends no client secret
    expect([status, body.error]).toEqual([401, 'invalid_client']);
  });

  it('lead to an error page without a redirect if they are of another client or unknown (§4)', async () => {
    const { body } = await push();
    const other = await App.register(server);
    for (const shown of [
      await openRequest(body.request_uri, other.clientId),
      await openRequest('urn:ietf:params:oauth:request_uri:nobody'),
    ]) {
      expect(shown.url.origin).toBe(server.url);
      expect(shown.status).toBe(400);
    }
  });
});
