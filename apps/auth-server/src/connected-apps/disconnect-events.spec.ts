import { startWhileLocked, untilLockWaits } from '@fulfilment/database/testing';
import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { parseMessage } from '@fulfilment/contracts';
import { eventually } from '@fulfilment/testing';
import { deleteExpiredRecords } from '../tokens/delete-expired-records.js';
import { openAccountPage } from '../test/account-pages.fixture.js';
import { App, disconnectFormOf, registerClient, thirdPartyRedirect } from '../test/app.fixture.js';
import { newUser, password } from '../test/users.fixture.js';
import { runCommand, startServerWithOperator } from '../test/operator.fixture.js';
import { rejectRows } from '../test/reject-rows.fixture.js';
import { server } from '../test/server.fixture.js';
import { firstPartyRedirect } from '../test/running-server.fixture.js';
import { testStatement } from '../test/test-statement.fixture.js';

startServerWithOperator();

const readOutbox = testStatement(
  `SELECT body::text FROM outbox WHERE body -> 'data' ->> 'client_id' = $1 ORDER BY position`,
);
/** Returns the messages about a client that are in the outbox. */
async function outboxMessages(clientId: string) {
  const rows = await server.database.rows<{ body: string }>(readOutbox, [clientId]);
  return rows.map(({ body }) => parseMessage(body));
}
const outboxTypes = async (clientId: string) => (await outboxMessages(clientId)).map(({ type }) => type);

const newMemberEmail = async (organisation = 'org_harbour') =>
  (await newUser(server, { organisation, role: 'member' })).email;

/** Registers a third-party app, and connects it to the account of each person. */
async function connectApp(emails: readonly string[], creator?: string): Promise<App> {
  const app = await App.register(server);
  const selection = creator === undefined ? {} : { creator };
  for (const email of emails) await app.signIn('orders:read offline_access', { email, ...selection });
  return app;
}

async function disconnect(app: App, email: string): Promise<void> {
  const browser = new FormBrowser(server);
  const page = await browser.get(`${server.url}/account/apps`);
  const apps = await browser.submit(formOf(page, '/login'), { email, password });
  const done = await browser.submit(disconnectFormOf(apps, app));
  expect(done.text).toContain('The app has been disconnected');
}

const lockTokens = testStatement(
  `SELECT 1 FROM oidc_model WHERE model = 'AccessToken' AND client_id = $1 FOR UPDATE`,
);

const lockUser = testStatement('SELECT FROM users WHERE email = $1 FOR UPDATE');
const lockBrowsers = testStatement(
  'SELECT FROM browser_sessions WHERE user_id = (SELECT id FROM users WHERE email = $1) FOR UPDATE',
);
const lockClient = testStatement(
  `SELECT FROM oidc_model WHERE model = 'Client' AND id = $1 FOR NO KEY UPDATE`,
);

const disable = (email: string) => runCommand('user disable', { USER: email });
const enable = (email: string) => runCommand('user enable', { USER: email });
const leave = (email: string, organisation = 'org_harbour') =>
  runCommand('user role', { USER: email, role: 'none', organisation });
const endings = [
  ['disconnecting', disconnect],
  ['being disabled', (_app: App, email: string) => disable(email)],
  ['leaving the organisation', (_app: App, email: string) => leave(email)],
] as const;

describe('client.disconnected', () => {
  it.each(endings)('is published once when the last person ends the connection by %s', async (_, end) => {
    const [one, other] = [await newMemberEmail(), await newMemberEmail()];
    const app = await connectApp([one, other]);
    await end(app, one);
    expect(await outboxTypes(app.clientId)).toEqual([]);
    const before = Date.now();
    await end(app, other);
    const messages = await outboxMessages(app.clientId);
    expect(messages).toMatchObject([
      {
        type: 'client.disconnected',
        data: { client_id: app.clientId, creator_id: server.creators.harbour.uuid },
      },
    ]);
    expect(Date.parse(messages[0]?.occurred_at ?? '')).toBeGreaterThanOrEqual(before);
  });

  it.each(endings)(
    'is published when the last person ends the connection by %s, although the consents of two people without access remain',
    async (_, end) => {
      const [gone, disabled, last] = [await newMemberEmail(), await newMemberEmail(), await newMemberEmail()];
      const app = await connectApp([gone, disabled, last]);
      await leave(gone);
      await disable(disabled);
      expect(await outboxTypes(app.clientId)).toEqual([]);
      await end(app, last);
      expect(await outboxTypes(app.clientId)).toEqual(['client.disconnected']);
    },
  );

  it('is published once per creator, but not for a creator to which another person connects the app', async () => {
    const { meridianFirst: first, meridianSecond: second } = server.creators;
    const [one, other] = [await newMemberEmail('org_meridian'), await newMemberEmail('org_meridian')];
    const app = await connectApp([one], first.uuid);
    // The consent to orders:read is remembered. A further scope needs a new consent, in which the person
    // chooses another creator.
    await app.signIn('orders:read shipping:read offline_access', { email: one, creator: second.uuid });
    await app.signIn('orders:read', { email: other, creator: first.uuid });
    await disconnect(app, one);
    expect(await outboxMessages(app.clientId)).toMatchObject([
      { type: 'client.disconnected', data: { client_id: app.clientId, creator_id: second.uuid } },
    ]);
  });

  it('is published once when the last two people are disabled concurrently', async () => {
    const emails = [await newMemberEmail(), await newMemberEmail()];
    const app = await connectApp(emails);
    await startWhileLocked(
      server.database,
      (tx) => tx.run(lockClient, [app.clientId]),
      ...emails.map((email) => () => disable(email)),
    );
    expect(await outboxTypes(app.clientId)).toEqual(['client.disconnected']);
  });

  it('is published twice when an app is authorized during its disconnection and disconnected afterwards', async () => {
    const email = await newMemberEmail();
    const app = await connectApp([email]);
    await startWhileLocked(
      server.database,
      (tx) => tx.run(lockTokens, [app.clientId]), // blocks the disconnection after it has deleted the consent
      () => disconnect(app, email),
      () => app.signIn('orders:read offline_access', { email }),
    );
    await disconnect(app, email);
    expect(await outboxTypes(app.clientId)).toEqual(['client.disconnected', 'client.disconnected']);
  });

  it('is published for a consent that was given while the person was being disabled', async () => {
    const { meridianFirst: first, meridianSecond: second } = server.creators;
    const email = await newMemberEmail('org_meridian');
    const app = await connectApp([email], first.uuid);
    const browser = new FormBrowser(server);
    const { url } = await app.request('orders:read shipping:read offline_access');
    const consentPage = await browser.submit(formOf(await browser.get(url), '/login'), { email, password });
    const consents: Promise<unknown>[] = [];
    await server.database.transaction(async (tx) => {
      await tx.run(lockUser, [email]); // first the user, then the client, as `user disable` locks them
      consents.push(browser.submit(formOf(consentPage, '/consent'), { creator: second.uuid }));
      await untilLockWaits(server.database);
      await tx.run(lockClient, [app.clientId]);
    });
    await Promise.all(consents);
    await disable(email);
    expect(await outboxTypes(app.clientId)).toEqual(['client.disconnected', 'client.disconnected']);
  });

  it('is published for a consent that was given while the person disconnected all apps', async () => {
    const email = await newMemberEmail();
    const app = await App.register(server);
    const browser = new FormBrowser(server);
    const { url } = await app.request('orders:read offline_access');
    const consentPage = await browser.submit(formOf(await browser.get(url), '/login'), { email, password });
    const { browser: other, shown } = await openAccountPage(email, '/account/security');
    const fields = {
      current_password: password,
      new_password: 'quite another horse',
      repeated_password: 'quite another horse',
      disconnect_apps: 'yes',
    };
    const concurrent: Promise<unknown>[] = [];
    await server.database.transaction(async (tx) => {
      await tx.run(lockBrowsers, [email]); // blocks the disconnection after it has read the consents
      concurrent.push(other.submit(formOf(shown, '/security/password'), fields));
      await untilLockWaits(server.database);
      const consent = browser.submit(formOf(consentPage, '/consent'));
      concurrent.push(consent);
      // If the consent did not wait, it would be stored now, and `disable` would publish no message about it.
      await Promise.race([consent, untilLockWaits(server.database, { count: 2 })]);
    });
    await Promise.all(concurrent);
    await disable(email);
    expect(await outboxTypes(app.clientId)).toEqual(['client.disconnected']);
  });

  it('is published a second time only if the app was reconnected before', async () => {
    const email = await newMemberEmail();
    const app = await connectApp([email]);
    await disable(email);
    await disable(email);
    await leave(email);
    expect(await outboxTypes(app.clientId)).toEqual(['client.disconnected']);
    await enable(email);
    await runCommand('user role', { USER: email, role: 'member', organisation: 'org_harbour' });
    await disconnect(app, email);
    expect(await outboxTypes(app.clientId)).toEqual(['client.disconnected', 'client.disconnected']);
  });

  it('is not published while the consent exists: after a new password, a new role or the end of tokens', async () => {
    const email = await newMemberEmail();
    const app = await App.register(server);
    const { tokens } = await app.signIn('orders:read offline_access', { email });
    await app.post('revoke', { token: tokens.refresh_token ?? '' });
    await runCommand('user role', { USER: email, role: 'admin', organisation: 'org_harbour' });
    await runCommand('user password', { USER: email, password: 'quite another horse' });
    expect(await outboxTypes(app.clientId)).toEqual([]);
  });

  it('is not published for a first-party app, which needs no consent', async () => {
    const email = await newMemberEmail();
    const { client_id } = server.clients.dashboard;
    const dashboard = await App.dashboard(server);
    await dashboard.signIn('orders:read offline_access', { email });
    // With prompt=consent, a consent is stored nevertheless.
    await dashboard.signIn('orders:read offline_access', { email, parameters: { prompt: 'consent' } });
    await disable(email);
    expect(await outboxTypes(client_id)).toEqual([]);
  });

  it('is not published for a connection without a creator', async () => {
    const email = await newMemberEmail();
    await leave(email); // so that the person has no creator to choose
    const app = await connectApp([email]);
    await disconnect(app, email);
    expect(await outboxTypes(app.clientId)).toEqual([]);
  });
});

describe('client.deleted', () => {
  it('is published once when the operator deletes a client with connections', async () => {
    const app = await connectApp([await newMemberEmail(), await newMemberEmail()]);
    await runCommand('client delete', { CLIENT: app.clientId });
    await expect(runCommand('client delete', { CLIENT: app.clientId })).rejects.toThrow(/does not exist/);
    expect(await outboxMessages(app.clientId)).toMatchObject([
      { type: 'client.deleted', data: { client_id: app.clientId } },
    ]);
  });

  it('is published when the operator deletes a first-party client', async () => {
    const { client_id } = await runCommand('client create', {
      name: 'Old dashboard',
      'redirect-uri': [firstPartyRedirect],
      'first-party': true,
    });
    await runCommand('client delete', { CLIENT: client_id });
    expect(await outboxTypes(client_id)).toEqual(['client.deleted']);
  });

  it('is published once when a client sends three deletions of itself concurrently (RFC 7592 §2.3)', async () => {
    const newClient = await registerClient(server, { redirect_uris: [thirdPartyRedirect] });
    const deleteItself = () =>
      server.fetch(newClient.registration_client_uri, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${newClient.registration_access_token}` },
      });
    const statuses = (await Promise.all([deleteItself(), deleteItself(), deleteItself()])).map(
      ({ status }) => status,
    );
    expect(statuses).toContain(204);
    expect(await outboxTypes(newClient.client_id)).toEqual(['client.deleted']);
  });

  it('is not published for the expiry of a client that was never authorized', async () => {
    const unused = await App.register(server);
    const used = await connectApp([await newMemberEmail()]);
    const expire = testStatement(
      `UPDATE oidc_model SET expires_at = expires_at - interval '31 days' WHERE model = 'Client' AND id = ANY ($1)`,
    );
    await server.database.run(expire, [[unused.clientId, used.clientId]]);
    const remaining = await eventually(async () => {
      await deleteExpiredRecords(server.database); // deletes nothing while the server's own cleanup runs
      const { clients } = await runCommand('client list', { limit: '1000' });
      const ids: string[] = clients.map(({ client_id }: { client_id: string }) => client_id);
      return ids.includes(unused.clientId) ? undefined : ids;
    });
    expect(remaining).toContain(used.clientId);
    expect(await outboxTypes(unused.clientId)).toEqual([]);
  });
});

describe('leaving an organisation', () => {
  it('makes a refresh in progress fail with invalid_grant', async () => {
    const email = await newMemberEmail();
    const app = await App.register(server);
    const { tokens } = await app.signIn('orders:read offline_access', { email });
    const expectedError = { error: 'invalid_grant' };
    await startWhileLocked(
      server.database,
      (tx) => tx.run(lockTokens, [app.clientId]),
      () => leave(email),
      () => expect(app.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject(expectedError),
    );
  });
});

describe('the end of access and its message', () => {
  it.each([
    ['audit_log', "NEW.event IN ('user_disabled', 'client_deleted', 'user_role_changed')"],
    ['outbox', "NEW.type LIKE 'client.%'"],
  ])('are one commit: neither happens when %s cannot be written', async (table, condition) => {
    const email = await newMemberEmail();
    const app = await App.register(server);
    const { tokens } = await app.signIn('orders:read offline_access', { email });
    await rejectRows(server.database, { table, condition }, async () => {
      await expect(disable(email)).rejects.toThrow('rejected');
      await expect(leave(email)).rejects.toThrow('rejected');
      await expect(runCommand('client delete', { CLIENT: app.clientId })).rejects.toThrow('rejected');
    });
    expect(await outboxTypes(app.clientId)).toEqual([]);
    await app.refresh(tokens.refresh_token ?? '');
  });
});
