import { describe, expect, it } from '@jest/globals';
import { parseMessage } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { deleteExpiredRecords } from '../src/tokens/delete-expired-records.js';
import { App, register, registration, thirdPartyRedirect } from './app.js';
import { Browser, formOf } from './browser.js';
import { makeUser } from './make-user.js';
import { serverWithOperator } from './operator.js';
import { firstPartyRedirect, password } from './running-server.js';

const given = serverWithOperator();

const readOutbox = statement(
  'test.told-of-client',
  `SELECT body::text FROM outbox WHERE body -> 'data' ->> 'client_id' = $1 ORDER BY position`,
);
/** What the other services will be told of a client. */
async function told(clientId: string) {
  const rows = await given.server.database.rows<{ body: string }>(readOutbox, [clientId]);
  return rows.map(({ body }) => parseMessage(body));
}
const typesTold = async (clientId: string) => (await told(clientId)).map(({ type }) => type);
const disconnectedFrom = async (clientId: string) =>
  (await told(clientId)).map(({ type, data }) => [type, data]);

let people = 0;
/** Somebody of the organisation. */
async function person(organisation = 'org_harbour'): Promise<string> {
  const email = `told-${String(++people)}@suite.example`;
  await makeUser(given.server.database, { email, password, organisation, role: 'member' });
  return email;
}

/** A third-party app with which these people are connected. */
async function appOf(emails: readonly string[], creator?: string): Promise<App> {
  const app = await App.registered(given.server);
  const picked = creator === undefined ? {} : { creator };
  for (const email of emails) await app.signIn('orders:read offline_access', { email, ...picked });
  return app;
}

async function disconnect(app: App, email: string): Promise<void> {
  const browser = new Browser(given.server);
  const page = await browser.get(`${given.server.url}/account/apps`);
  const apps = await browser.submit(formOf(page, '/login'), { email, password });
  const form = apps.forms.find(({ hidden }) => hidden['client_id'] === app.clientId);
  const done = await browser.submit(form ?? formOf(apps, '/none'));
  expect(done.text).toContain('The app is disconnected.');
}

const lockTokens = statement(
  'test.lock-tokens',
  `SELECT 1 FROM oidc_model WHERE model = 'AccessToken' AND client_id = $1 FOR UPDATE`,
);
const waiting = statement(
  'test.waiting',
  `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
);
/** Until so many statements wait for what another transaction holds. */
const waitingForLocks = (count: number) =>
  eventually(
    async () => (await given.server.database.row<{ count: number }>(waiting))?.count === count || undefined,
  );

const disable = (email: string) => given.operator.run('user disable', { USER: email });
const enable = (email: string) => given.operator.run('user enable', { USER: email });
const leave = (email: string, organisation = 'org_harbour') =>
  given.operator.run('user role', { USER: email, role: 'none', organisation });
const endings = [
  ['disconnecting', disconnect],
  ['being disabled', (_app: App, email: string) => disable(email)],
  ['leaving the organisation', (_app: App, email: string) => leave(email)],
] as const;

describe('an app that nobody has connected to a creator any more', () => {
  it.each(endings)('is told of once, when the last person ends it by %s', async (_, end) => {
    const [one, other] = [await person(), await person()];
    const app = await appOf([one, other]);
    await end(app, one);
    expect(await typesTold(app.clientId)).toEqual([]);
    const before = Date.now();
    await end(app, other);
    const messages = await told(app.clientId);
    expect(messages).toMatchObject([
      {
        type: 'client.disconnected',
        data: { client_id: app.clientId, creator_id: given.server.people.harbour.uuid },
      },
    ]);
    expect(Date.parse(messages[0]?.occurred_at ?? '')).toBeGreaterThanOrEqual(before);
  });

  it.each(endings)(
    'is told of although somebody has a consent who is not there any more: %s',
    async (_, end) => {
      const [gone, disabled, last] = [await person(), await person(), await person()];
      const app = await appOf([gone, disabled, last]);
      await leave(gone);
      await disable(disabled);
      expect(await typesTold(app.clientId)).toEqual([]);
      await end(app, last);
      expect(await typesTold(app.clientId)).toEqual(['client.disconnected']);
    },
  );

  it('is told of once for each creator, and for none that somebody else has it connected to', async () => {
    const { first, second } = given.server.people;
    const [one, other] = [await person('org_meridian'), await person('org_meridian')];
    const app = await appOf([one], first.uuid);
    // A native app would be asked again; this one is when it asks for more.
    await app.signIn('orders:read shipping:read offline_access', { email: one, creator: second.uuid });
    await app.signIn('orders:read', { email: other, creator: first.uuid });
    await disconnect(app, one);
    expect(await disconnectedFrom(app.clientId)).toEqual([
      ['client.disconnected', { client_id: app.clientId, creator_id: second.uuid }],
    ]);
  });

  it('is told of by one of two people who end it at the same time', async () => {
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
    expect(await typesTold(app.clientId)).toEqual(['client.disconnected']);
  });

  it('is not left with access by an authorization that was under way: it asks anew, and its end is told anew', async () => {
    const email = await person();
    const app = await appOf([email]);
    const under: Promise<unknown>[] = [];
    await given.server.database.transaction(async (tx) => {
      await tx.run(lockTokens, [app.clientId]); // holds the disconnection up at its very end
      under.push(disconnect(app, email));
      await waitingForLocks(1);
      under.push(app.signIn('orders:read offline_access', { email }));
      await waitingForLocks(2);
    });
    await Promise.all(under);
    await disconnect(app, email);
    expect(await typesTold(app.clientId)).toEqual(['client.disconnected', 'client.disconnected']);
  });

  it('gets nothing by a refresh that was under way when the person left', async () => {
    const email = await person();
    const app = await App.registered(given.server);
    const { tokens } = await app.signIn('orders:read offline_access', { email });
    const under: Promise<unknown>[] = [];
    await given.server.database.transaction(async (tx) => {
      await tx.run(lockTokens, [app.clientId]);
      under.push(leave(email));
      await waitingForLocks(1);
      const refused = { error: 'invalid_grant' };
      under.push(expect(app.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject(refused));
      await waitingForLocks(2);
    });
    await Promise.all(under);
  });

  it('is told of again when it was connected anew in between, and not when nothing was', async () => {
    const email = await person();
    const app = await appOf([email]);
    await disable(email);
    await disable(email);
    await leave(email);
    expect(await typesTold(app.clientId)).toEqual(['client.disconnected']);
    await enable(email);
    await given.operator.run('user role', { USER: email, role: 'member', organisation: 'org_harbour' });
    await disconnect(app, email);
    expect(await typesTold(app.clientId)).toEqual(['client.disconnected', 'client.disconnected']);
  });

  it('is not told of while the consent stands: after a new password, another role, or when tokens end', async () => {
    const email = await person();
    const app = await App.registered(given.server);
    const { tokens } = await app.signIn('orders:read offline_access', { email });
    await app.post('revoke', { token: tokens.refresh_token ?? '' });
    await given.operator.run('user role', { USER: email, role: 'admin', organisation: 'org_harbour' });
    await given.operator.run('user password', { USER: email, password: 'quite another horse' });
    expect(await typesTold(app.clientId)).toEqual([]);
  });

  it('is not told of when it is ours: nobody consents to it, so nobody is missed', async () => {
    const email = await person();
    const { client_id } = given.server.people.dashboard;
    const dashboard = await App.known(given.server, client_id, firstPartyRedirect);
    await dashboard.signIn('orders:read offline_access', { email });
    await dashboard.signIn('orders:read offline_access', { email, parameters: { prompt: 'consent' } });
    await disable(email);
    expect(await typesTold(client_id)).toEqual([]);
  });

  it('is not told of without a creator', async () => {
    const email = await person();
    await leave(email);
    const app = await appOf([email]);
    await disconnect(app, email);
    expect(await typesTold(app.clientId)).toEqual([]);
  });
});

describe('a client that is deleted', () => {
  it('by the operator is told of once, with all its connections', async () => {
    const app = await appOf([await person(), await person()]);
    await given.operator.run('client delete', { CLIENT: app.clientId });
    await expect(given.operator.run('client delete', { CLIENT: app.clientId })).rejects.toThrow(/no client/);
    expect(await disconnectedFrom(app.clientId)).toEqual([['client.deleted', { client_id: app.clientId }]]);
  });

  it('by the operator is told of when it is first-party, too', async () => {
    const { client_id } = await given.operator.run('client create', {
      name: 'Old dashboard',
      'redirect-uri': [firstPartyRedirect],
      'first-party': true,
    });
    await given.operator.run('client delete', { CLIENT: client_id });
    expect(await typesTold(client_id)).toEqual(['client.deleted']);
  });

  it('by itself is told of once (RFC 7592 §2.3), however often it asks', async () => {
    const made = await registration(await register(given.server, { redirect_uris: [thirdPartyRedirect] }));
    const ask = () =>
      given.server.fetch(made.registration_client_uri, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${made.registration_access_token}` },
      });
    const statuses = (await Promise.all([ask(), ask(), ask()])).map(({ status }) => status);
    expect(statuses).toContain(204);
    expect(await typesTold(made.client_id)).toEqual(['client.deleted']);
  });

  it('because it was never authorized is not told of: it had access to nothing', async () => {
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
    expect(await typesTold(never.clientId)).toEqual([]);
  });
});

describe('what ends access and what tells of it', () => {
  /** Has PostgreSQL refuse a row, as it does when it goes away just then. */
  async function refusing(table: string, condition: string, work: () => Promise<void>): Promise<void> {
    await given.server.database.run(
      statement(
        'test.refuse',
        `CREATE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$`,
      ),
    );
    await given.server.database.run(
      statement(
        `test.refuse-${table}`,
        `CREATE TRIGGER refuse_row BEFORE INSERT ON ${table} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION refuse_row()`,
      ),
    );
    try {
      await work();
    } finally {
      await given.server.database.run(statement('test.refuse-no-more', 'DROP FUNCTION refuse_row CASCADE'));
    }
  }

  it.each([
    ['audit_log', "NEW.event IN ('user_disabled', 'client_deleted', 'user_role_changed')"],
    ['outbox', "NEW.type LIKE 'client.%'"],
  ])(
    'are one commit: nothing is ended and nobody told when %s cannot be written',
    async (table, condition) => {
      const email = await person();
      const app = await App.registered(given.server);
      const { tokens } = await app.signIn('orders:read offline_access', { email });
      await refusing(table, condition, async () => {
        await expect(disable(email)).rejects.toThrow('refused');
        await expect(leave(email)).rejects.toThrow('refused');
        await expect(given.operator.run('client delete', { CLIENT: app.clientId })).rejects.toThrow(
          'refused',
        );
      });
      expect(await typesTold(app.clientId)).toEqual([]);
      await app.refresh(tokens.refresh_token ?? '');
    },
  );
});
