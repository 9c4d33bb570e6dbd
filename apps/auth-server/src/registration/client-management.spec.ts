import { startWhileLocked } from '@fulfilment/database/testing';
import { App, manageClient, parseRegistration, registerClient } from '../test/app.fixture.js';
import { json } from '../test/json.fixture.js';
import { rejectRows } from '../test/reject-rows.fixture.js';
import { server, startServer } from '../test/server.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';

startServer();
const clearExpiry = testStatement(
  `UPDATE oidc_model SET expires_at = NULL WHERE model = 'Client' AND id = $1`,
);
const lockClient = testStatement(`SELECT FROM oidc_model WHERE model = 'Client' AND id = $1 FOR UPDATE`);

describe('client management (RFC 7592)', () => {
  it('reads, changes and deletes a client, whose tokens end with it (§2.1, §2.2, §2.3)', async () => {
    const confidential = { token_endpoint_auth_method: 'client_secret_basic' };
    const newClient = await registerClient(server, confidential);
    const { client_id, client_secret } = newClient;
    const read = await manageClient(server, 'GET', newClient);
    expect(read.headers.get('cache-control')).toBe('no-store');
    const seen = await parseRegistration(read);
    expect(seen).toMatchObject({ client_id, client_secret });

    const metadata = { ...confidential, client_name: 'Another name' };
    const next = await parseRegistration(await manageClient(server, 'PUT', seen, metadata));
    expect(next).toMatchObject({ client_name: 'Another name', client_secret });

    const app = await App.ofClient(server, { client_id, client_secret });
    const { tokens } = await app.signIn('orders:read offline_access');
    expect((await manageClient(server, 'DELETE', next)).status).toBe(204);
    await expect(app.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ status: 401 });
    const left = await server.database.rows(
      testStatement('SELECT model FROM oidc_model WHERE client_id = $1 OR id = $1'),
      [client_id],
    );
    expect(left).toEqual([]);
    expect((await manageClient(server, 'GET', next)).status).toBe(401);
  });

  it('returns a new registration token after a change, and rejects the previous one (§2.2)', async () => {
    const newClient = await registerClient(server);
    const next = await parseRegistration(await manageClient(server, 'PUT', newClient));
    expect(next.registration_access_token).not.toBe(newClient.registration_access_token);
    expect((await manageClient(server, 'GET', newClient)).status).toBe(401);
    expect((await manageClient(server, 'GET', next)).status).toBe(200);
  });

  it('changes nothing when the new registration token cannot be stored, and the previous one stays valid', async () => {
    const newClient = await registerClient(server);
    const newTokens = { table: 'oidc_model', condition: `NEW.model = 'RegistrationAccessToken'` };
    await rejectRows(server.database, newTokens, async () => {
      const change = await manageClient(server, 'PUT', newClient, { client_name: 'Another name' });
      expect(change.status).toBe(500);
    });
    const own = await manageClient(server, 'GET', newClient);
    expect(await json(own)).toMatchObject({ client_name: 'A third-party app' });
  });

  it('changes a client, and then deletes it, when both are requested concurrently', async () => {
    const newClient = await registerClient(server);
    // As the first authorization does. It moves the row behind that of the registration token.
    await server.database.run(clearExpiry, [newClient.client_id]);
    const responses = await startWhileLocked(
      server.database,
      (tx) => tx.run(lockClient, [newClient.client_id]),
      () => manageClient(server, 'PUT', newClient, { client_name: 'Another name' }),
      () => manageClient(server, 'DELETE', newClient),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 204]);
  });

  it('deletes the secret of a client that becomes public, and creates one for a client that becomes confidential', async () => {
    const confidential = { token_endpoint_auth_method: 'client_secret_basic' };
    const newClient = await registerClient(server, confidential);
    const change = await manageClient(server, 'PUT', newClient, { token_endpoint_auth_method: 'none' });
    const changed: unknown = await change.clone().json();
    expect(changed).not.toHaveProperty('client_secret');
    expect(changed).not.toHaveProperty('client_secret_expires_at');
    const stored = await server.database.row<{ payload: Record<string, unknown> }>(
      testStatement(`SELECT payload FROM oidc_model WHERE model = 'Client' AND id = $1`),
      [newClient.client_id],
    );
    expect(stored?.payload).not.toHaveProperty('client_secret_sealed');

    const publicClient = await parseRegistration(change);
    const next = await parseRegistration(await manageClient(server, 'PUT', publicClient, confidential));
    expect(next.client_secret).toEqual(expect.any(String));
    expect(next.client_secret).not.toBe(newClient.client_secret);
  });

  it.each(['GET', 'PUT', 'DELETE'] as const)(
    '%s without a valid registration token of the client is rejected with 401, and does nothing (§2, RFC 6750 §3)',
    async (method) => {
      const newClient = await registerClient(server);
      const { registration_access_token: tokenOfOther } = await registerClient(server);
      const { tokens } = await (await App.ofClient(server, newClient)).signIn('openid');
      for (const registration_access_token of [
        undefined,
        'x'.repeat(43),
        tokens.access_token,
        tokenOfOther,
      ]) {
        const sent = { ...newClient, registration_access_token };
        const response = await manageClient(server, method, sent, { client_name: 'Another name' });
        expect(response.status).toBe(401);
        expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /);
      }
      const own = await manageClient(server, 'GET', newClient);
      expect(await json(own)).toMatchObject({ client_name: 'A third-party app' });
    },
  );

  it.each([
    ['first_party, as at a registration', { first_party: true }],
    ['a redirect to plain http, as at a registration', { redirect_uris: ['http://app.example/'] }],
    ['no redirect URI', { redirect_uris: undefined, response_types: [] }],
    ['the id of another client', { client_id: 'another' }],
    ['another secret', { client_secret: 'chosen' }],
  ])('rejects a change to %s (§2.2)', async (_, changes) => {
    const newClient = await registerClient(server);
    const metadata = { client_name: 'Another name', ...changes };
    expect((await manageClient(server, 'PUT', newClient, metadata)).status).toBe(400);
    const own = await manageClient(server, 'GET', newClient);
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
      expect(secret.length).toBeGreaterThan(20); // not missing
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
