import { startWhileLocked } from '@fulfilment/database/testing';
import { formOf } from '@fulfilment/testing/form-browser';
import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import { App } from '../test/app.fixture.js';
import { auditEventsOf } from '../test/audit-records.fixture.js';
import { runCommand, startServerWithOperator } from '../test/operator.fixture.js';
import { newProtectedUser, submitPassword } from '../test/second-factors.fixture.js';
import { server } from '../test/server.fixture.js';
import { makeUser, newUser, password } from '../test/users.fixture.js';
import { openAccountPage } from '../test/account-pages.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';

startServerWithOperator();

const run = (text: string, values: readonly unknown[] = []) =>
  server.database.run(testStatement(text), values);

describe('a user who is changed in the database', () => {
  it('gets the new role at the next refresh, and no token after leaving the creator’s organisation', async () => {
    const app = await App.dashboard(server);
    const { tokens } = await app.signIn('openid offline_access', { email: 'owner@meridian.example' });
    const { user_id } = server.users.meridianOwner;
    await run(`UPDATE memberships SET role = 'member' WHERE user_id = $1`, [user_id]);
    const refreshed = await app.refresh(tokens.refresh_token ?? '');
    expect(decodeJwt(refreshed.access_token).org_role).toBe('member');
    await run('DELETE FROM memberships WHERE user_id = $1', [user_id]);
    await expect(app.refresh(refreshed.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  it('cannot sign in, refresh or use UserInfo when disabled', async () => {
    const { user_id, email } = await newUser(server);
    const app = await App.register(server);
    const { tokens } = await app.signIn('openid offline_access', { email });
    await run('UPDATE users SET disabled_at = now() WHERE id = $1', [user_id]);
    await expect(app.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(client.fetchUserInfo(app.configuration, tokens.access_token, user_id)).rejects.toMatchObject(
      { status: 401 },
    );
    const { shown } = await app.authorize('openid', { email });
    expect(shown.status).toBe(401);
  });
});

describe('user create for an existing user', () => {
  const existing = {
    email: 'existing@harbour.example',
    name: 'Existing Example',
    password,
    organisation: 'org_harbour',
    role: 'member',
  } as const;
  const readStored = async () =>
    server.database.row<{ password_hash: string; changed: string; global_admin: boolean }>(
      testStatement(
        'SELECT password_hash, password_changed_at::text AS changed, global_admin FROM users WHERE email = $1',
      ),
      [existing.email],
    );

  it('returns the user whose e-mail address differs only in case, and one user to three concurrent calls', async () => {
    const member = { password, organisation: 'org_harbour', role: 'member' } as const;
    const one = await makeUser(server.database, { ...member, email: 'Twice@Harbour.example' });
    const two = await makeUser(server.database, { ...member, email: 'twice@harbour.example' });
    expect(two.user_id).toBe(one.user_id);
    const concurrent = await Promise.all(
      [1, 2, 3].map(() => makeUser(server.database, { ...member, email: 'concurrent@harbour.example' })),
    );
    expect(new Set(concurrent.map(({ user_id }) => user_id)).size).toBe(1);
  });

  it('keeps the stored hash of an equal password, and otherwise accepts only the new password', async () => {
    const created = await makeUser(server.database, existing);
    const before = await readStored();
    expect(await makeUser(server.database, existing)).toEqual(created);
    expect(await readStored()).toEqual(before);
    await makeUser(server.database, { ...existing, password: 'another good password' });
    expect((await readStored())?.changed).not.toBe(before?.changed);
    const app = await App.register(server);
    expect((await app.authorize('orders:read', { email: existing.email })).shown.status).toBe(401);
    await makeUser(server.database, existing);
    expect((await app.authorize('orders:read', { email: existing.email })).steps).toContain('consent');
  });

  it('adds a missing name once, and audits it', async () => {
    const { email } = await newUser(server);
    const named = { ...existing, email, name: 'Late Example' };
    await makeUser(server.database, named);
    await makeUser(server.database, named);
    expect(await auditEventsOf(server, { email, event: 'name_changed' })).toHaveLength(1);
  });

  it.each([
    ['another organisation', { organisation: 'org_meridian' }],
    ['another role', { role: 'owner' }],
    ['no organisation', { organisation: undefined, role: undefined }],
    ['the role global_admin', { organisation: undefined, role: 'global_admin' }],
    ['another name', { name: 'Somebody Else' }],
  ] as const)('is rejected when its options have %s, and changes nothing', async (_, change) => {
    await makeUser(server.database, existing);
    const before = await readStored();
    await expect(
      makeUser(server.database, { ...existing, password: 'another good password', ...change }),
    ).rejects.toThrow('A user with this e-mail address already exists.');
    expect(await readStored()).toEqual(before);
  });

  it('is rejected for a global admin, unless its options have this role', async () => {
    const { email } = server.users.globalAdmin;
    await expect(makeUser(server.database, { ...existing, email })).rejects.toThrow('already');
    await expect(makeUser(server.database, { email, password })).rejects.toThrow('already');
    const repeated = await makeUser(server.database, { email, password, role: 'global_admin' });
    expect(repeated).toEqual(server.users.globalAdmin);
  });
});

describe('user redact', () => {
  it('replaces the personal data, ends all access permanently, and is idempotent', async () => {
    const { email, user_id: userId } = await newUser(server, {
      organisation: 'org_harbour',
      role: 'member',
      name: 'Grace Example',
    });
    const app = await App.register(server);
    const { tokens } = await app.signIn('openid offline_access', { email });
    expect(await runCommand('user redact', { USER: email })).toEqual({
      user_id: userId,
      redacted: true,
      tokens_ended: 1,
    });
    await expect(app.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    expect((await submitPassword(server, email)).status).toBe(401);
    const stored = await server.database.rows(
      testStatement(`SELECT to_jsonb(u) AS stored FROM users AS u WHERE id = $1
        UNION ALL SELECT to_jsonb(s) FROM browser_sessions AS s WHERE user_id = $1
        UNION ALL SELECT to_jsonb(c) FROM consents AS c WHERE user_id = $1
        UNION ALL SELECT to_jsonb(n) FROM network_sign_ins AS n WHERE user_id = $1
        UNION ALL SELECT payload FROM oidc_model WHERE account_id = $1::text AND model = 'Session'`),
      [userId],
    );
    expect(JSON.stringify(stored)).not.toMatch(/user-\d+@|Grace|127\.0\.0\.1|argon2/);
    expect(await runCommand('user redact', { USER: userId })).toMatchObject({ tokens_ended: 0 });
    await expect(runCommand('user enable', { USER: userId })).rejects.toThrow('was redacted');
    await expect(runCommand('user password', { USER: userId, password })).rejects.toThrow('was redacted');
    const { events } = await runCommand('audit', { user: userId, event: 'user_redacted' });
    expect(events).toHaveLength(1);
  });

  it('deletes the second factor', async () => {
    const { email } = await newProtectedUser(server);
    const { user_id: userId } = await runCommand('user redact', { USER: email });
    const stored = await server.database.rows(
      testStatement(`SELECT user_id FROM second_factors WHERE user_id = $1
        UNION ALL SELECT user_id FROM recovery_codes WHERE user_id = $1`),
      [userId],
    );
    expect(stored).toEqual([]);
  });

  it('is not undone by a change of the name or by a sign-in that is in progress', async () => {
    const { email, user_id: userId } = await newUser(server);
    const { browser, shown } = await openAccountPage(email, '/account');
    await startWhileLocked(
      server.database,
      (tx) => tx.run(testStatement('SELECT FROM users WHERE id = $1 FOR UPDATE'), [userId]),
      () => runCommand('user redact', { USER: userId }),
      () => browser.submit(formOf(shown, '/account/name'), { name: 'Grace Example' }),
    );
    const readSessions = testStatement('SELECT uid, ip, user_agent FROM browser_sessions WHERE user_id = $1');
    const sessions = await server.database.rows<{ uid: string }>(readSessions, [userId]);
    const origin = { ip: '127.0.0.1', userAgent: 'A browser' };
    // Sign-ins that were in progress record their browsers after the redaction.
    for (const { uid } of [...sessions, { uid: 'of a sign-in' }])
      await server.browsers.record(uid, userId, origin, Math.floor(Date.now() / 1000) + 60);
    expect(sessions).toHaveLength(1);
    expect(await server.database.rows(readSessions, [userId])).toEqual(sessions);
    const redacted = `redacted-${userId}@redacted.invalid`;
    const readName = testStatement('SELECT name FROM users WHERE id = $1');
    expect(await server.database.row(readName, [userId])).toEqual({ name: null });
    expect(await auditEventsOf(server, { email: redacted, event: 'name_changed' })).toEqual([]);
  });
});
