import { parseRegistration, register, thirdPartyRedirect } from '../test/app.fixture.js';
import { json } from '../test/json.fixture.js';
import { server, startServer } from '../test/server.fixture.js';

startServer();

/** Sends any body, in contrast to `register`. */
const post = (body: string, type = 'application/json') =>
  server.fetch(`${server.url}/api/auth/oauth2/register`, {
    method: 'POST',
    headers: { 'content-type': type },
    body,
  });
const elevenUris = Array.from({ length: 11 }, (_, index) => `https://app.example/${index}`);

describe('registration (RFC 7591)', () => {
  it('returns the metadata of a public client, without a secret', async () => {
    const response = await register(server);
    expect(response.status).toBe(201);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const body = await parseRegistration(response);
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

  it('returns a secret to a confidential client, and both grant types by default', async () => {
    const response = await register(server, {
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: undefined,
    });
    expect(await parseRegistration(response)).toMatchObject({
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
    ['resource_server', { resource_server: true }],
    ['resource_server that is false', { resource_server: false }],
    ['jwks_uri', { jwks_uri: 'https://app.example/jwks' }],
    ['jwks', { jwks: { keys: [] } }],
    ['sector_identifier_uri', { sector_identifier_uri: 'https://app.example/sector' }],
    ['a name of 101 characters', { client_name: 'x'.repeat(101) }],
    ['a name that is not a string', { client_name: 7 }],
    ['an unknown scope', { scope: 'orders:destroy' }],
    ['an unsupported authentication method', { token_endpoint_auth_method: 'private_key_jwt' }],
    ['client_secret_jwt', { token_endpoint_auth_method: 'client_secret_jwt' }],
    ['the device grant', { grant_types: ['urn:ietf:params:oauth:grant-type:device_code'] }],
    ['the password grant', { grant_types: ['authorization_code', 'password'] }],
    ['a response type with a token', { response_types: ['code', 'token'] }],
    ['unsigned ID tokens', { id_token_signed_response_alg: 'none' }],
    ['ID tokens signed with the secret', { id_token_signed_response_alg: 'HS256' }],
    ['pairwise subjects', { subject_type: 'pairwise' }],
    ['a script as client_uri', { client_uri: 'javascript:alert(1)' }],
    ['a plain http URI after sign-out', { post_logout_redirect_uris: ['http://app.example/out'] }],
    ['a script after sign-out', { post_logout_redirect_uris: ['javascript:alert(1)'] }],
    ['eleven URIs after sign-out', { post_logout_redirect_uris: elevenUris }],
  ])('rejects %s', async (_, metadata) => {
    const response = await register(server, metadata);
    expect(response.status).toBe(400);
    expect(await json(response)).toMatchObject({ error: 'invalid_client_metadata' });
  });

  it.each([
    ['eleven', elevenUris, 'must have at most 10 elements'],
    ['none', [], 'must contain at least one URI'],
    ['a script', ['javascript:alert(1)'], 'must use https, a loopback address or a reverse-domain scheme'],
    [
      'an invalid one after a valid one',
      ['https://app.example/', 'http://app.example/'],
      'must use https, except on loopback addresses',
    ],
    ['one that is not a string', [7], 'must only contain strings'],
  ])('rejects redirect URIs: %s', async (_, redirect_uris, reason) => {
    const response = await register(server, { redirect_uris });
    expect(response.status).toBe(400);
    expect(await json(response)).toMatchObject({
      error: 'invalid_redirect_uri',
      error_description: `redirect_uris ${reason}`,
    });
  });

  it.each([
    ['no redirect URI', { redirect_uris: undefined }],
    ['no redirect URI and no response type', { redirect_uris: undefined, response_types: [] }],
    ['an empty list of redirect URIs and no response type', { redirect_uris: [], response_types: [] }],
  ])('rejects a registration with %s (RFC 7591 §3.2.2)', async (_, metadata) => {
    const response = await register(server, metadata);
    expect(response.status).toBe(400);
    expect(await json(response)).toMatchObject({ error: 'invalid_redirect_uri' });
  });

  it('makes a client native if a redirect URI is not https, cleans its name and drops its logo', async () => {
    const response = await register(server, {
      redirect_uris: ['http://127.0.0.1/callback'],
      client_name: ' A\u202ebad\u0007 name ',
      logo_uri: 'https://app.example/logo.png',
    });
    const body = await parseRegistration(response);
    expect(body).toMatchObject({ application_type: 'native', client_name: 'Abad name' });
    expect(body).not.toHaveProperty('logo_uri');
  });

  it('responds to a browser’s preflight', async () => {
    const preflight = await server.fetch(`${server.url}/api/auth/oauth2/register`, {
      method: 'OPTIONS',
      headers: { origin: 'https://tool.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-methods')).toContain('POST');
  });

  it('ignores unknown metadata, and an id or secret that the client chooses (§2)', async () => {
    const response = await register(server, {
      backchannel_logout_uri: 'http://127.0.0.1:1/logout',
      software_statement: 'e30.e30.',
      client_id: 'my-own-id',
      client_secret: 'my-own-secret',
      anything: { else: true },
    });
    const body = await parseRegistration(response);
    expect(response.status).toBe(201);
    expect(body.client_id).not.toBe('my-own-id');
    for (const member of ['backchannel_logout_uri', 'software_statement', 'client_secret', 'anything'])
      expect(body).not.toHaveProperty(member);
  });

  it('accepts ten redirect URIs, and a name of 100 characters (RFC 7591 §3.2.1)', async () => {
    const response = await register(server, {
      redirect_uris: elevenUris.slice(1),
      client_name: '🎵'.repeat(100),
    });
    expect(await parseRegistration(response)).toMatchObject({ client_name: '🎵'.repeat(100) });
    expect(response.status).toBe(201);
  });

  it.each([
    [
      'more than 100 members',
      { contacts: Array.from({ length: 101 }, (_, index) => `a${index}@app.example`) },
    ],
    ['more than 24576 characters', { anything: 'x'.repeat(24_576) }],
  ])('rejects metadata of %s', async (_, metadata) => {
    const response = await register(server, metadata);
    expect(response.status).toBe(400);
    expect(await json(response)).toEqual({
      error: 'invalid_client_metadata',
      error_description: expect.stringMatching(/^metadata must /),
    });
  });

  it.each([
    // The nesting must not hide the NUL that follows it.
    ['nested deeply', `{"anything":${'['.repeat(20_000)}${']'.repeat(20_000)},"client_name":"\\u0000"}`],
    ['of very many members', `{"anything":[${'0,'.repeat(20_000)}0]}`],
  ])('rejects JSON that is %s', async (_, body) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect((await json(response)).error).toBe('invalid_request');
  });

  it.each([
    ['not JSON', 400, 'application/json', '{'],
    ['a list', 400, 'application/json', '[]'],
    ['a text', 400, 'application/json', '"x"'],
    ['null', 400, 'application/json', 'null'],
    ['a form', 400, 'application/x-www-form-urlencoded', 'client_name=x'],
    ['too large', 413, 'application/json', JSON.stringify({ client_name: 'x'.repeat(70_000) })],
  ])('rejects a body that is %s with %i (§3.2.2)', async (_, status, type, body) => {
    const response = await post(body, type);
    expect(response.status).toBe(status);
    expect((await json(response)).error).toBe('invalid_request');
  });
});
