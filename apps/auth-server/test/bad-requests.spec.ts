import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { App, register, registration, thirdPartyRedirect } from './app.js';
import { Browser } from './browser.js';
import { json } from './json.js';
import { runningServer, type RunningServer } from './running-server.js';

let server: RunningServer;
let app: App;
beforeAll(async () => {
  server = await runningServer();
  app = await App.registered(server);
});
afterAll(() => server.stop());

const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const ask = async (parameters: Record<string, string | undefined>) => {
  const url = new URL(`${server.url}/api/auth/oauth2/authorize`);
  const all: Record<string, string | undefined> = {
    response_type: 'code',
    client_id: app.clientId,
    redirect_uri: thirdPartyRedirect,
    scope: 'orders:read',
    state: 'the-state',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...parameters,
  };
  for (const [name, value] of Object.entries(all))
    if (value !== undefined) url.searchParams.append(name, value);
  return new Browser(server).get(url.href);
};

describe('authorize', () => {
  it.each([
    ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }],
    ['with plain PKCE', { code_challenge_method: 'plain' }],
    ['with a short challenge', { code_challenge: challenge.slice(1) }],
    ['without a method, which would mean plain', { code_challenge_method: undefined }],
  ])('refuses a request %s (RFC 9700 §2.1.1)', async (_, parameters) => {
    const shown = await ask(parameters);
    expect(shown.url.origin + shown.url.pathname).toBe(thirdPartyRedirect);
    expect(shown.url.searchParams.get('error')).toBe('invalid_request');
    expect(shown.url.searchParams.get('state')).toBe('the-state');
    expect(shown.url.searchParams.get('iss')).toBe(`${server.url}/api/auth`);
  });

  it.each([
    ['an unknown scope', 'orders:read orders:destroy'],
    ['no scope', undefined],
  ])('answers %s with invalid_scope (RFC 6749 §4.1.2.1)', async (_, scope) => {
    expect((await ask({ scope })).url.searchParams.get('error')).toBe('invalid_scope');
  });

  it.each([
    ['a suffix', `${thirdPartyRedirect}/more`],
    ['a query', `${thirdPartyRedirect}?x=1`],
    ['another case', 'https://app.example/Callback'],
    ['a port', 'https://app.example:444/callback'],
    ['a fragment', `${thirdPartyRedirect}#x`],
    ['user information', 'https://app.example@evil.example/callback'],
    ['plain http', 'http://app.example/callback'],
    ['a path that leads back', 'https://app.example/x/../callback'],
    ['another host', 'https://evil.example/callback'],
  ])('never redirects to an address with %s (RFC 9700 §4.1.3)', async (_, redirect_uri) => {
    const shown = await ask({ redirect_uri });
    expect(shown.url.origin).toBe(server.url);
    expect(shown.status).toBe(400);
    expect(shown.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  it('takes any port of a loopback address, and no other path (RFC 8252 §7.3)', async () => {
    const { client_id } = await registration(
      await register(server, { redirect_uris: ['http://127.0.0.1/callback', 'com.example.app:/callback'] }),
    );
    for (const redirect_uri of ['http://127.0.0.1:49152/callback', 'com.example.app:/callback']) {
      expect((await ask({ client_id, redirect_uri })).url.pathname).toMatch(/^\/interaction\//);
    }
    for (const redirect_uri of ['http://127.0.0.1:49152/other', 'http://localhost:49152/callback']) {
      expect((await ask({ client_id, redirect_uri })).status).toBe(400);
    }
  });

  it.each([
    ['the implicit grant', { response_type: 'token' }],
    ['a repeated parameter', { state: 'a' }],
    ['an unknown client', { client_id: 'nobody' }],
  ])('refuses %s', async (what, parameters) => {
    const shown =
      what === 'a repeated parameter'
        ? await new Browser(server).get(
            `/api/auth/oauth2/authorize?client_id=${app.clientId}&response_type=code&redirect_uri=${encodeURIComponent(thirdPartyRedirect)}&scope=orders:read&scope=orders:read&code_challenge=${challenge}&code_challenge_method=S256`,
          )
        : await ask(parameters);
    // The implicit grant's answers are told in the fragment (OAuth 2.0 Multiple Response Types §5).
    const answer = new URLSearchParams(shown.url.search || shown.url.hash.slice(1));
    expect(shown.status === 400 || answer.has('error')).toBe(true);
  });
});

describe('token', () => {
  it.each([
    ['wrong', 'x'.repeat(43)],
    ['short', 'x'.repeat(42)],
    ['long', 'x'.repeat(129)],
    ['missing', undefined],
  ])('refuses a %s verifier (RFC 7636 §4.6)', async (_, code_verifier) => {
    const { shown } = await app.authorize('orders:read');
    const response = await app.post('token', {
      grant_type: 'authorization_code',
      code: shown.url.searchParams.get('code') ?? '',
      redirect_uri: app.redirectUri,
      ...(code_verifier === undefined ? {} : { code_verifier }),
    });
    expect(response.status).toBe(400);
    expect(['invalid_grant', 'invalid_request']).toContain((await json(response)).error);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('refuses the code of another client', async () => {
    const other = await App.registered(server);
    const { shown, verifier } = await app.authorize('orders:read');
    const response = await other.post('token', {
      grant_type: 'authorization_code',
      code: shown.url.searchParams.get('code') ?? '',
      redirect_uri: app.redirectUri,
      code_verifier: verifier,
    });
    expect(await json(response)).toMatchObject({ error: 'invalid_grant' });
  });

  it.each([
    ['client_credentials', 'unsupported_grant_type'],
    ['password', 'unsupported_grant_type'],
    ['implicit', 'unsupported_grant_type'],
  ])('knows no grant %s (RFC 9700 §2.4)', async (grant_type, error) => {
    const response = await app.post('token', { grant_type });
    expect(response.status).toBe(400);
    expect(await json(response)).toMatchObject({ error });
  });

  it.each(['introspect', 'revoke'])('asks who calls %s: RFC 7662 §2.3, RFC 6749 §5.2', async (endpoint) => {
    const answer = await server.fetch(`${server.url}/api/auth/oauth2/${endpoint}`, {
      method: 'POST',
      body: new URLSearchParams({ token: 'x' }),
    });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="clients"']);
    expect(await answer.json()).toMatchObject({ error: 'invalid_client' });
  });

  it('refuses a JSON body, an unknown client and a wrong secret', async () => {
    const json = await server.fetch(`${server.url}/api/auth/oauth2/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(json.status).toBe(400);
    expect(await json.json()).toMatchObject({ error: 'invalid_request' });
    const unknown = await app.post('token', { client_id: 'nobody', grant_type: 'refresh_token' });
    expect(unknown.status).toBe(401);
    expect(await unknown.json()).toMatchObject({ error: 'invalid_client' });
    const { client_id } = server.people.resourceServer;
    const wrong = await server.fetch(`${server.url}/api/auth/oauth2/introspect`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${client_id}:wrong`)}` },
      body: new URLSearchParams({ token: 'x' }),
    });
    expect(wrong.status).toBe(401);
  });

  it('has no other paths and methods than its own', async () => {
    for (const [method, path] of [
      ['GET', '/api/auth/oauth2/token'],
      ['GET', '/api/auth/nothing'],
      ['GET', '/nothing'],
    ] as const) {
      const response = await server.fetch(`${server.url}${path}`, { method });
      expect(response.status).toBe(404);
      expect(await json(response)).toMatchObject({ statusCode: 404, code: 'NOT_FOUND' });
    }
  });
});

describe('an access token', () => {
  it.each([
    ['unsigned', 'none'],
    ['signed by a foreign key under our kid', 'foreign'],
    ['with a claim changed', 'tampered'],
    ['that is only the id of one', 'jti'],
    ['that is an ID token', 'id_token'],
    ['that is a refresh token', 'refresh_token'],
    ['signed with HS256 by the public key', 'hs256'],
  ])('%s is worth nothing (RFC 8725)', async (_, kind) => {
    const { tokens } = await app.signIn('openid offline_access');
    const forged = await forge(kind, tokens);
    const userInfo = await server.fetch(`${server.url}/api/auth/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${forged}` },
    });
    expect(userInfo.status).toBe(401);
    expect(userInfo.headers.get('www-authenticate')).toContain('invalid_token');
    if (kind === 'refresh_token') return;
    const introspection = await app.post('introspect', { token: forged });
    expect(await introspection.json()).toEqual({ active: false });
  });

  it('in the query is not looked at (RFC 9700 §4.3.2)', async () => {
    const { tokens } = await app.signIn('openid');
    const response = await server.fetch(
      `${server.url}/api/auth/oauth2/userinfo?access_token=${tokens.access_token}`,
    );
    expect(response.status).toBe(400);
  });

  it('without openid is 403 at UserInfo (RFC 6750 §3.1)', async () => {
    const { tokens } = await app.signIn('orders:read');
    const response = await server.fetch(`${server.url}/api/auth/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(response.status).toBe(403);
    expect(await json(response)).toMatchObject({ error: 'insufficient_scope' });
  });
});

async function forge(
  kind: string,
  tokens: { access_token: string; id_token?: string; refresh_token?: string },
): Promise<string> {
  const [header = '', payload = '', signature = ''] = tokens.access_token.split('.');
  const claims = decodeJwt(tokens.access_token);
  const kid = String(JSON.parse(Buffer.from(header, 'base64url').toString()).kid);
  switch (kind) {
    case 'none':
      return `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${payload}.`;
    case 'foreign': {
      const { privateKey, publicKey } = await generateKeyPair('ES256');
      return new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid, jwk: await exportJWK(publicKey) })
        .sign(privateKey);
    }
    case 'hs256': {
      const jwks = await json(await server.fetch(`${server.url}/api/auth/jwks`));
      const secret = new TextEncoder().encode(JSON.stringify(jwks.keys[0]));
      return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid }).sign(secret);
    }
    case 'tampered': {
      const changed = { ...claims, scope: `${String(claims.scope)} orders:create` };
      return `${header}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${signature}`;
    }
    case 'jti':
      return claims.jti ?? '';
    case 'id_token':
      return tokens.id_token ?? '';
    default:
      return tokens.refresh_token ?? '';
  }
}
