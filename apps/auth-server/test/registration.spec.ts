import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { App, register, registration, thirdPartyRedirect } from './app.js';
import { json } from './json.js';
import { runningServer, type RunningServer } from './running-server.js';

let server: RunningServer;
beforeAll(async () => {
  server = await runningServer();
});
afterAll(() => server.stop());

describe('registration (RFC 7591)', () => {
  it('answers a public client with what it is, and no secret', async () => {
    const response = await register(server);
    expect(response.status).toBe(201);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const body = await registration(response);
    expect(body).toMatchObject({
      client_id: expect.any(String),
      client_id_issued_at: expect.any(Number),
      client_name: 'A third-party app',
      redirect_uris: [thirdPartyRedirect],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'web',
      registration_client_uri: `${server.url}/api/auth/oauth2/register/${body.client_id}`,
    });
    expect(body).not.toHaveProperty('client_secret');
    expect(body).not.toHaveProperty('first_party');
  });

  it('gives a confidential client a secret that works, and both grants when none is named', async () => {
    const response = await register(server, {
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: undefined,
    });
    expect(await registration(response)).toMatchObject({
      client_secret: expect.any(String),
      client_secret_expires_at: 0,
      grant_types: ['authorization_code', 'refresh_token'],
    });
  });

  it.each([
    ['client_credentials', { grant_types: ['client_credentials'] }],
    ['implicit', { grant_types: ['implicit'], response_types: ['token'] }],
    ['first_party', { first_party: true }],
    ['first_party that is false', { first_party: false }],
    ['jwks_uri', { jwks_uri: 'https://app.example/jwks' }],
    ['jwks', { jwks: { keys: [] } }],
    ['sector_identifier_uri', { sector_identifier_uri: 'https://app.example/sector' }],
    ['a name of 101 characters', { client_name: 'x'.repeat(101) }],
    ['a name that is no string', { client_name: 7 }],
    ['an unknown scope', { scope: 'orders:destroy' }],
    ['an unknown authentication', { token_endpoint_auth_method: 'private_key_jwt' }],
  ])('refuses %s', async (_, metadata) => {
    const response = await register(server, metadata);
    expect(response.status).toBe(400);
    expect(await json(response)).toMatchObject({ error: 'invalid_client_metadata' });
  });

  it.each([
    ['eleven', Array.from({ length: 11 }, (_, index) => `https://app.example/${index}`)],
    ['none', []],
    ['javascript:', ['javascript:alert(1)']],
    ['data:', ['data:text/html,x']],
    ['plain http', ['http://app.example/callback']],
    ['a fragment', ['https://app.example/#x']],
    ['an empty fragment', ['https://app.example/#']],
    ['user information', ['https://user@app.example/']],
    ['a wildcard', ['https://*.app.example/']],
    ['one that is too long', [`https://app.example/${'x'.repeat(2048)}`]],
    ['a scheme without a dot', ['myapp:/callback']],
    ['a relative one', ['/callback']],
    ['one that is no string', [7]],
  ])('refuses redirect addresses: %s', async (_, redirect_uris) => {
    const response = await register(server, { redirect_uris });
    expect(response.status).toBe(400);
    expect(['invalid_redirect_uri', 'invalid_client_metadata']).toContain((await json(response)).error);
  });

  it('makes a client that is sent anywhere but to https a native one, and cleans its name', async () => {
    const response = await register(server, {
      redirect_uris: ['http://127.0.0.1/callback'],
      client_name: ' A\u202ebad\u0007 name ',
      logo_uri: 'https://app.example/logo.png',
    });
    const body = await registration(response);
    expect(body).toMatchObject({ application_type: 'native', client_name: 'Abad name' });
    expect(body).not.toHaveProperty('logo_uri');
  });

  it('answers a browser’s preflight, and bad JSON', async () => {
    const preflight = await server.fetch(`${server.url}/api/auth/oauth2/register`, {
      method: 'OPTIONS',
      headers: { origin: 'https://tool.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-methods')).toContain('POST');
    const bad = await server.fetch(`${server.url}/api/auth/oauth2/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{',
    });
    expect(bad.status).toBe(400);
    expect(await bad.json()).toMatchObject({ error: 'invalid_request' });
  });
});

describe('client management (RFC 7592)', () => {
  it('reads, changes and deletes a client, whose tokens end with it', async () => {
    const made = await registration(
      await register(server, { token_endpoint_auth_method: 'client_secret_basic' }),
    );
    const manage = (method: string, token: string, body?: object) =>
      server.fetch(made.registration_client_uri, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const read = await manage('GET', made.registration_access_token);
    expect(await read.json()).toMatchObject({ client_id: made.client_id, client_secret: made.client_secret });

    const change = {
      client_id: made.client_id,
      client_name: 'Another name',
      redirect_uris: [thirdPartyRedirect],
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['authorization_code', 'refresh_token'],
    };
    const promoted = await manage('PUT', made.registration_access_token, { ...change, first_party: true });
    expect(promoted.status).toBe(400);
    const changed = await registration(await manage('PUT', made.registration_access_token, change));
    expect(changed).toMatchObject({ client_name: 'Another name', client_secret: made.client_secret });
    expect((await manage('GET', made.registration_access_token)).status).toBe(401);

    const app = await App.known(server, made.client_id, thirdPartyRedirect, made.client_secret);
    const { tokens } = await app.signIn('orders:read offline_access');
    expect((await manage('DELETE', changed.registration_access_token)).status).toBe(204);
    await expect(app.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ status: 401 });
    const left = await server.database.rows({
      name: 'test.left',
      text: `SELECT model FROM oidc_model WHERE client_id = '${made.client_id}' OR id = '${made.client_id}'`,
    });
    expect(left.filter(({ model }) => model !== 'Session')).toEqual([]);
  });
});
