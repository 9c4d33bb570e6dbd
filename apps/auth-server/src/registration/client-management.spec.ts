import { App, parseRegistration, registerClient, thirdPartyRedirect } from '../test/app.js';
import { json } from '../test/json.js';
import { server, startServer } from '../test/server.js';
import { testStatement } from '../test/test-statement.js';

startServer();

const manage = (method: string, url: string, token: string | undefined, body?: object) =>
  server.fetch(url, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const changeBody = (clientId: string, changes: object = {}) => ({
  client_id: clientId,
  client_name: 'Another name',
  redirect_uris: [thirdPartyRedirect],
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  ...changes,
});

describe('client management (RFC 7592)', () => {
  it('reads, changes and deletes a client, whose tokens end with it (§2.1, §2.2, §2.3)', async () => {
    const newClient = await registerClient(server, { token_endpoint_auth_method: 'client_secret_basic' });
    const { registration_client_uri: url, client_id, client_secret } = newClient;
    const read = await manage('GET', url, newClient.registration_access_token);
    expect(read.headers.get('cache-control')).toBe('no-store');
    const seen = await parseRegistration(read);
    expect(seen).toMatchObject({ client_id, client_secret });

    const change = changeBody(client_id, { token_endpoint_auth_method: 'client_secret_basic' });
    const next = await parseRegistration(await manage('PUT', url, seen.registration_access_token, change));
    expect(next).toMatchObject({ client_name: 'Another name', client_secret });

    const app = await App.ofClient(server, { client_id, client_secret });
    const { tokens } = await app.signIn('orders:read offline_access');
    expect((await manage('DELETE', url, next.registration_access_token)).status).toBe(204);
    await expect(app.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ status: 401 });
    const left = await server.database.rows(
      testStatement(`SELECT model FROM oidc_model WHERE (client_id = $1 OR id = $1) AND model <> 'Session'`),
      [client_id],
    );
    expect(left).toEqual([]);
    expect((await manage('GET', url, next.registration_access_token)).status).toBe(401);
  });

  it('returns a new registration token after a change, and rejects the previous one (§2.2)', async () => {
    const newClient = await registerClient(server);
    const url = newClient.registration_client_uri;
    const next = await parseRegistration(
      await manage('PUT', url, newClient.registration_access_token, changeBody(newClient.client_id)),
    );
    expect(next.registration_access_token).not.toBe(newClient.registration_access_token);
    expect((await manage('GET', url, newClient.registration_access_token)).status).toBe(401);
    expect((await manage('GET', url, next.registration_access_token)).status).toBe(200);
  });

  it.each(['GET', 'PUT', 'DELETE'])(
    '%s by another client’s token is 401 and does nothing (§3)',
    async (method) => {
      const [mine, other] = [await registerClient(server), await registerClient(server)];
      const body = method === 'PUT' ? changeBody(mine.client_id) : undefined;
      const response = await manage(
        method,
        mine.registration_client_uri,
        other.registration_access_token,
        body,
      );
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /);
      const own = await manage('GET', mine.registration_client_uri, mine.registration_access_token);
      expect(await json(own)).toMatchObject({ client_name: 'A third-party app' });
    },
  );

  it('requires the registration token: no token, an invented one or an access token is rejected', async () => {
    const newClient = await registerClient(server);
    const { registration_client_uri: url, registration_access_token } = newClient;
    const { tokens } = await (await App.ofClient(server, newClient)).signIn('openid');
    for (const token of [undefined, 'x'.repeat(43), tokens.access_token])
      for (const method of ['GET', 'PUT', 'DELETE'])
        expect((await manage(method, url, token)).status).toBe(401);
    expect((await manage('GET', url, registration_access_token)).status).toBe(200);
  });

  it.each([
    ['first_party, as at a registration', { first_party: true }],
    ['a redirect to plain http, as at a registration', { redirect_uris: ['http://app.example/'] }],
    ['no redirect URI', { redirect_uris: undefined, response_types: [] }],
    ['the id of another client', { client_id: 'another' }],
    ['another secret', { client_secret: 'chosen' }],
  ])('rejects a change to %s (§2.2)', async (_, changes) => {
    const newClient = await registerClient(server);
    const url = newClient.registration_client_uri;
    const rejected = await manage(
      'PUT',
      url,
      newClient.registration_access_token,
      changeBody(newClient.client_id, changes),
    );
    expect(rejected.status).toBe(400);
    const own = await manage('GET', url, newClient.registration_access_token);
    expect(await json(own)).toMatchObject({ client_name: 'A third-party app' });
  });
});

describe('the stored data', () => {
  it('contain no code, token, session or client secret in clear text', async () => {
    const newClient = await registerClient(server, { token_endpoint_auth_method: 'client_secret_basic' });
    const app = await App.ofClient(server, newClient);
    const { tokens, browser, shown } = await app.signIn('orders:read offline_access');
    const pending = await app.authorize('orders:read offline_access', { browser });
    const session = browser.cookieNames().find((name) => name.startsWith('__Host-session@')) ?? '';
    const secrets = {
      'refresh token': tokens.refresh_token ?? '',
      'used code': shown.url.searchParams.get('code') ?? '',
      code: pending.shown.url.searchParams.get('code') ?? '',
      session: browser.cookie(session) ?? '',
      'registration token': newClient.registration_access_token,
      'client secret': newClient.client_secret ?? '',
      'access token': tokens.access_token,
    };
    for (const [kind, secret] of Object.entries(secrets)) {
      expect(secret.length).toBeGreaterThan(20);
      const found = await server.database.rows(
        testStatement(`SELECT model FROM oidc_model WHERE payload::text LIKE '%' || $1 || '%' OR id = $1
          UNION ALL SELECT event FROM audit_log WHERE details::text LIKE '%' || $1 || '%'`),
        [secret],
      );
      expect([kind, found]).toEqual([kind, []]);
    }
  });

  it('contain client secrets encrypted, and passwords as argon2id hashes', async () => {
    const app = await App.register(server, { token_endpoint_auth_method: 'client_secret_basic' });
    const row = await server.database.row<{ payload: Record<string, unknown> }>(
      testStatement(`SELECT payload FROM oidc_model WHERE model = 'Client' AND id = $1`),
      [app.clientId],
    );
    expect(row?.payload).toHaveProperty('client_secret_sealed');
    expect(row?.payload).not.toHaveProperty('client_secret');
    const users = await server.database.rows<{ password_hash: string }>(
      testStatement('SELECT password_hash FROM users'),
    );
    expect(users).not.toEqual([]);
    for (const { password_hash } of users)
      expect(password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });
});
