import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@fulfilment/testing';
import { decodeProtectedHeader } from 'jose';
import * as client from 'openid-client';
import { SigningKeys } from '../src/keys/signing-keys.js';
import { request } from 'node:http';
import { App } from './app.js';
import { json } from './json.js';
import { runningServer, type RunningServer } from './running-server.js';

let server: RunningServer;
beforeAll(async () => {
  server = await runningServer({ RATE_LIMIT_REGISTER: '20/3600', RATE_LIMIT_TOKEN: '60/60' });
});
afterAll(() => server.stop());

const places = [
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server/api/auth',
  '/api/auth/.well-known/openid-configuration',
  '/.well-known/openid-configuration/api/auth',
];

describe('metadata (RFC 8414, OpenID Connect Discovery)', () => {
  it('is the same at all four places, whatever host a client names', async () => {
    const documents = await Promise.all(
      places.map((path) =>
        get(path, {
          host: 'evil.example',
          'x-forwarded-host': 'evil.example',
          'x-forwarded-proto': 'gopher',
        }),
      ),
    );
    for (const document of documents) {
      expect(document.status).toBe(200);
      expect(document.headers['cache-control']).toBe('public, max-age=300');
      expect(document.text).toBe(documents[0]?.text);
      expect(document.text).not.toContain('evil.example');
    }
    expect(JSON.parse(documents[0]?.text ?? '')).toMatchObject({
      issuer: `${server.url}/api/auth`,
      authorization_endpoint: `${server.url}/api/auth/oauth2/authorize`,
      token_endpoint: `${server.url}/api/auth/oauth2/token`,
      registration_endpoint: `${server.url}/api/auth/oauth2/register`,
      userinfo_endpoint: `${server.url}/api/auth/oauth2/userinfo`,
      introspection_endpoint: `${server.url}/api/auth/oauth2/introspect`,
      revocation_endpoint: `${server.url}/api/auth/oauth2/revoke`,
      jwks_uri: `${server.url}/api/auth/jwks`,
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      id_token_signing_alg_values_supported: ['ES256', 'RS256'],
      authorization_response_iss_parameter_supported: true,
    });
  });

  it('and the keys may be read from any origin; the keys hold nothing private', async () => {
    const response = await fetch(`${server.url}/api/auth/jwks`, { headers: { origin: 'https://a.example' } });
    expect(response.headers.get('access-control-allow-origin')).toBe('https://a.example');
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    const { keys } = await json(response);
    expect(keys.map(({ alg }: { alg: string }) => alg)).toEqual(['ES256', 'RS256', 'ES256', 'RS256']);
    for (const key of keys) expect(key).not.toHaveProperty('d');
  });
});

describe('cross-origin calls', () => {
  it('of the token endpoint are for the origins of the client’s redirect addresses', async () => {
    const app = await App.registered(server);
    const call = (origin: string) =>
      app.post('token', { grant_type: 'refresh_token', refresh_token: 'x' }, { origin });
    const own = await call('https://app.example');
    expect(own.headers.get('access-control-allow-origin')).toBe('https://app.example');
    const foreign = await call('https://evil.example');
    expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
    expect(foreign.status).toBe(400);
  });
});

describe('key rotation', () => {
  it('takes effect without a restart, with a key that was published before, and refuses no token', async () => {
    const app = await App.registered(server);
    const { tokens } = await app.signIn('openid offline_access');
    const published = await json(await fetch(`${server.url}/api/auth/jwks`));
    const before = server.oidc.provider;
    await new SigningKeys(server.database, server.config.KEY_ENCRYPTION_KEY).rotate();
    const rotatedAtMs = Date.now();
    await eventually(() => server.oidc.provider !== before || undefined);
    expect(Date.now() - rotatedAtMs).toBeLessThan(1_000); // this replica was told nothing: it noticed
    const refreshed = await app.refresh(tokens.refresh_token ?? '');
    const { kid } = decodeProtectedHeader(refreshed.access_token);
    expect(kid).not.toBe(decodeProtectedHeader(tokens.access_token).kid);
    expect(published.keys.map((key: { kid: string }) => key.kid)).toContain(kid);
    for (const token of [tokens.access_token, refreshed.access_token]) {
      expect(await client.tokenIntrospection(app.configuration, token)).toMatchObject({ active: true });
    }
  });

  it('is one set of keys however many replicas start together', async () => {
    await server.database.run({ name: 'test.no-keys', text: 'DELETE FROM signing_keys' });
    const replicas = [1, 2, 3].map(() => new SigningKeys(server.database, server.config.KEY_ENCRYPTION_KEY));
    await Promise.all(replicas.map((keys) => keys.ensure()));
    const { keys } = await new SigningKeys(server.database, server.config.KEY_ENCRYPTION_KEY).load();
    expect(keys.map(({ jwk, state }) => `${jwk.alg} ${state}`)).toEqual([
      'ES256 active',
      'RS256 active',
      'ES256 next',
      'RS256 next',
    ]);
    await server.oidc.refresh();
  });
});

describe('too many requests', () => {
  it.each([
    ['register', 25],
    ['token', 65],
  ])('at %s are 429 with Retry-After, in both forms of an error', async (endpoint, count) => {
    const answers = await Promise.all(
      Array.from({ length: count }, () =>
        fetch(`${server.url}/api/auth/oauth2/${endpoint}`, { method: 'POST' }),
      ),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused[0]?.json()).toMatchObject({
      error: 'temporarily_unavailable',
      error_description: expect.any(String),
      statusCode: 429,
      code: 'RATE_LIMITED',
    });
  });
});

/** Plain node:http, which lets a client lie about its host. */
function get(
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number | undefined; headers: Record<string, unknown>; text: string }> {
  return new Promise((resolve, reject) => {
    request(`${server.url}${path}`, { headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
    })
      .on('error', reject)
      .end();
  });
}
