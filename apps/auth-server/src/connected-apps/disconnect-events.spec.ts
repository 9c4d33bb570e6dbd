import { FormBrowser, formOf } from '@fulfilment/testing/form-browser';
import { describe, expect, it } from '@jest/globals';
import { parseMessage } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { deleteExpiredRecords } from '../tokens/delete-expired-records.js';
import { App, register, registration, thirdPartyRedirect } from '../test/app.js';
import { makeUser } from '../test/make-user.js';
import { serverWithOperator } from '../test/operator.js';
import { firstPartyRedirect, password } from '../test/running-server.js';
import { waitingForLocks as awaitLocks } from '../test/waiting-for-locks.js';

const given = serverWithOperator();

const readOutbox = statement(
  'test.messages-of-client',
  `SELECT body::text FROM outbox WHERE body -> 'data' ->> 'client_id' = $1 ORDER BY position`,
);
/** The messages about a client that are published to the other services. */
async function publishedMessages(clientId: string) {
  const rows = await given.server.database.rows<{ body: string }>(readOutbox, [clientId]);
  return rows.map(({ body }) => parseMessage(body));
}
const publishedTypes = async (clientId: string) =>
  (await publishedMessages(clientId)).map(({ type }) => type);
const disconnectedFrom = async (clientId: string) =>
  (await publishedMessages(clientId)).map(({ type, data }) => [type, data]);

let people = 0;
/** Creates a member of the organisation. */
async function person(organisation = 'org_harbour'): Promise<string> {
  const email = `disconnect-${String(++people)}@suite.example`;
  await makeUser(given.server.database, { email, password, organisation, role: 'member' });
  return email;
}

/** A third-party app that these people have connected. */
async function appOf(emails: readonly string[], creator?: string): Promise<App> {
  const app = await App.registered(given.server);
  const picked = creator === undefined ? {} : { creator };
  for (const email of emails) await app.signIn('orders:read offline_access', { email, ...picked });
  return app;
}

async function disconnect(app: App, email: string): Promise<void> {
  const browser = new FormBrowser(given.server);
  const page = await browser.get(`${given.server.url}/account/apps`);
  const apps = await browser.submit(formOf(page, '/login'), { email, password });
  const form = apps.forms.find(({ hidden }) => hidden['client_id'] === app.clientId);
  const done = await browser.submit(form ?? formOf(apps, '/none'));
  expect(done.text).toContain('The app has been disconnected');
}

const lockTokens = statement(
  'test.lock-tokens',
  `SELECT 1 FROM oidc_model WHERE model = 'AccessToken' AND client_id = $1 FOR UPDATE`,
);
const waitingForLocks = (count: number) => awaitLocks(given.server.database, count);

const disable = (email: string) => given.operator.run('user disable', { USER: email });
const enable = (email: string) => given.operator.run('user enable', { USER: email });
const leave = (email: string, organisation = 'org_harbour') =>
  given.operator.run('user role', { USER: email, role: 'none', organisation });
const endings = [
  ['disconnecting', disconnect],
  ['being disabled', (_app: App, email: string) => disable(email)],
  ['leaving the organisation', (_app: App, email: string) => leave(email)],
] as const;

describe('client.disconnected', () => {
  it.each(endings)('is published once when the last person ends the connection by %s', async (_, end) => {
    const [one, other] = [await person(), await person()];
    const app = await appOf([one, other]);
    await end(app, one);
    expect(await publishedTypes(app.clientId)).toEqual([]);
    const before = Date.now();
    await end(app, other);
    const messages = await publishedMessages(app.clientId);
    expect(messages).toMatchObject([
      {
        type: 'client.disconnected',
        data: { client_id: app.clientId, creator_id: given.server.people.harbour.uuid },
      },
    ]);
    expect(Date.parse(messages[0]?.occurred_at ?? '')).toBeGreaterThanOrEqual(before);
  });

  it.each(endings)(
    'is published although a consent remains of a user who lost access: %s',
    async (_, end) => {
      const [gone, disabled, last] = [await person(), await person(), await person()];
      const app = await appOf([gone, disabled, last]);
      await leave(gone);
      await disable(disabled);
      expect(await publishedTypes(app.clientId)).toEqual([]);
      await end(app, last);
      expect(await publishedTypes(app.clientId)).toEqual(['client.disconnected']);
    },
  );

  it('is published once per creator, and not for creators to which another person still connects the app', async () => {
    const { first, second } = given.server.people;
    const [one, other] = [await person('org_meridian'), await person('org_meridian')];
    const app = await appOf([one], first.uuid);
    // A native app needs consent each time; this one needs it for further scopes.
    await app.signIn('orders:read shipping:read offline_access', { email: one, creator: second.uuid });
    await app.signIn('orders:read', { email: other, creator: first.uuid });
    await disconnect(app, one);
    expect(await disconnectedFrom(app.clientId)).toEqual([
      ['client.disconnected', { client_id: app.clientId, creator_id: second.uuid }],
    ]);
  });

  it('is published once when two people disconnect concurrently', async () => {
    const emails = [await person(), await person()];
    const app = await appOf(emails);
    const lock = statement(
      'test.lock-client',
      `SELECT 1 FROM oidc_model WHERE model = 'Client' AND id = $1 FOR UPDATE`,
    );
    const both: Promise<unknown>[] = [];
    await given.server.database.transaction(async (tx) => {
      await tx.run(lock, [app.clientId]);
      both.push(...emails.map(disable));
      await waitingForLocks(2);
    });
    await Promise.all(both);
    expect(await publishedTypes(app.clientId)).toEqual(['client.disconnected']);
  });

  it('leaves no access through an authorization in progress, which needs a new consent, whose end is published too', async () => {
    const email = await person();
    const app = await appOf([email]);
    const under: Promise<unknown>[] = [];
    await given.server.database.transaction(async (tx) => {
      await tx.run(lockTokens, [app.clientId]); // blocks the disconnection at its last statement
      under.push(disconnect(app, email));
      await waitingForLocks(1);
      under.push(app.signIn('orders:read offline_access', { email }));
      await waitingForLocks(2);
    });
    await Promise.all(under);
    await disconnect(app, email);
    expect(await publishedTypes(app.clientId)).toEqual(['client.disconnected', 'client.disconnected']);
  });

  it('leaves no access through a refresh in progress when the person leaves the organisation', async () => {
    const email = await person();
    const app = await App.registered(given.server);
    const { tokens } = await app.signIn('orders:read offline_access', { email });
    const under: Promise<unknown>[] = [];
    await given.server.database.transaction(async (tx) => {
      await tx.run(lockTokens, [app.clientId]);
      under.push(leave(email));
      await waitingForLocks(1);
      const expectedError = { error: 'invalid_grant' };
      under.push(expect(app.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject(expectedError));
      await waitingForLocks(2);
    });
    await Promise.all(under);
  });

  it('is published a second time only if the app was connected again in between', async () => {
    const email = await person();
    const app = await appOf([email]);
    await disable(email);
    await disable(email);
    await leave(email);
    expect(await publishedTypes(app.clientId)).toEqual(['client.disconnected']);
    await enable(email);
    await given.operator.run('user role', { USER: email, role: 'member', organisation: 'org_harbour' });
    await disconnect(app, email);
    expect(await publishedTypes(app.clientId)).toEqual(['client.disconnected', 'client.disconnected']);
  });

  it('is not published while the consent exists: after a new password, a new role or the end of tokens', async () => {
    const email = await person();
    const app = await App.registered(given.server);
    const { tokens } = await app.signIn('orders:read offline_access', { email });
    await app.post('revoke', { token: tokens.refresh_token ?? '' });
    await given.operator.run('user role', { USER: email, role: 'admin', organisation: 'org_harbour' });
    await given.operator.run('user password', { USER: email, password: 'quite another horse' });
    expect(await publishedTypes(app.clientId)).toEqual([]);
  });

  it('is not published for a first-party app, which needs no consent', async () => {
    const email = await person();
    const { client_id } = given.server.people.dashboard;
    const dashboard = await App.known(given.server, client_id, firstPartyRedirect);
    await dashboard.signIn('orders:read offline_access', { email });
    await dashboard.signIn('orders:read offline_access', { email, parameters: { prompt: 'consent' } });
    await disable(email);
    expect(await publishedTypes(client_id)).toEqual([]);
  });

  it('is not published for a connection without a creator', async () => {
    const email = await person();
    await leave(email);
    const app = await appOf([email]);
    await disconnect(app, email);
    expect(await publishedTypes(app.clientId)).toEqual([]);
  });
});

describe('client.deleted', () => {
  it('is published once when the operator deletes a client with connections', async () => {
    const app = await appOf([await person(), await person()]);
    await given.operator.run('client delete', { CLIENT: app.clientId });
    await expect(given.operator.run('client delete', { CLIENT: app.clientId })).rejects.toThrow(
      /does not exist/,
    );
    expect(await disconnectedFrom(app.clientId)).toEqual([['client.deleted', { client_id: app.clientId }]]);
  });

  it('is published when the operator deletes a first-party client', async () => {
    const { client_id } = await given.operator.run('client create', {
      name: 'Old dashboard',
      'redirect-uri': [firstPartyRedirect],
      'first-party': true,
    });
    await given.operator.run('client delete', { CLIENT: client_id });
    expect(await publishedTypes(client_id)).toEqual(['client.deleted']);
  });

  it('is published once when a client deletes itself repeatedly (RFC 7592 §2.3)', async () => {
    const newClient = await registration(
      await register(given.server, { redirect_uris: [thirdPartyRedirect] }),
    );
    const deleteItself = () =>
      given.server.fetch(newClient.registration_client_uri, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${newClient.registration_access_token}` },
      });
    const statuses = (await Promise.all([deleteItself(), deleteItself(), deleteItself()])).map(
      ({ status }) => status,
    );
    expect(statuses).toContain(204);
    expect(await publishedTypes(newClient.client_id)).toEqual(['client.deleted']);
  });

  it('is not published when a client expires that was never authorized', async () => {
    const never = await App.registered(given.server);
    const used = await appOf([await person()]);
    const age = statement(
      'test.age-clients',
      `UPDATE oidc_model SET expires_at = expires_at - interval '31 days' WHERE model = 'Client' AND id = ANY ($1)`,
    );
    await given.server.database.run(age, [[never.clientId, used.clientId]]);
    while (await deleteExpiredRecords(given.server.database));
    const left = await given.operator.run('client list', { limit: '1000' });
    const ids = left.clients.map(({ client_id }: { client_id: string }) => client_id);
    expect(ids).toContain(used.clientId);
    expect(ids).not.toContain(never.clientId);
    expect(await publishedTypes(never.clientId)).toEqual([]);
  });
});

describe('the end of access and its message', () => {
  /** Makes PostgreSQL reject a row, as a failure at that moment would. */
  async function withRejectedRows(
    table: string,
    condition: string,
    work: () => Promise<void>,
  ): Promise<void> {
    await given.server.database.run(
      statement(
        'test.reject',
        `CREATE FUNCTION reject_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'rejected'; END $$`,
      ),
    );
    await given.server.database.run(
      statement(
        `test.reject-${table}`,
        `CREATE TRIGGER reject_row BEFORE INSERT ON ${table} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION reject_row()`,
      ),
    );
    try {
      await work();
    } finally {
      await given.server.database.run(statement('test.stop-rejecting', 'DROP FUNCTION reject_row CASCADE'));
    }
  }

  it.each([
    ['audit_log', "NEW.event IN ('user_disabled', 'client_deleted', 'user_role_changed')"],
    ['outbox', "NEW.type LIKE 'client.%'"],
  ])('are one commit: neither happens when %s cannot be written', async (table, condition) => {
    const email = await person();
    const app = await App.registered(given.server);
    const { tokens } = await app.signIn('orders:read offline_access', { email });
    await withRejectedRows(table, condition, async () => {
      await expect(disable(email)).rejects.toThrow('rejected');
      await expect(leave(email)).rejects.toThrow('rejected');
      await expect(given.operator.run('client delete', { CLIENT: app.clientId })).rejects.toThrow('rejected');
    });
    expect(await publishedTypes(app.clientId)).toEqual([]);
    await app.refresh(tokens.refresh_token ?? '');
  });
});
