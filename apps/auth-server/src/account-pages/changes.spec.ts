import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseMessage } from '@fulfilment/contracts';
import { Outbox } from '@fulfilment/messaging';
import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import { changeCreator } from '../creators/change-creator.js';
import { registerCreator } from '../creators/register-creator.js';
import { createClient } from '../registration/create-client.js';
import { deleteExpiredRecords } from '../tokens/delete-expired-records.js';
import { App } from '../test/app.js';
import { makeUser } from '../test/make-user.js';
import { firstPartyRedirect, password, runningServer, type RunningServer } from '../test/running-server.js';

let server: RunningServer;
beforeAll(async () => {
  server = await runningServer();
});
afterAll(() => server.stop());

const run = (name: string, text: string, values: readonly unknown[] = []) =>
  server.database.run({ name: `test.${name}`, text }, values);

describe('a change of a user', () => {
  it('takes effect at the next refresh: a new role, or no token after leaving the creator’s organisation', async () => {
    const app = await App.known(server, server.people.dashboard.client_id, firstPartyRedirect);
    const { tokens } = await app.signIn('openid offline_access', { email: 'owner@meridian.example' });
    const { user_id } = server.people.meridian;
    await run('role', `UPDATE memberships SET role = 'member' WHERE user_id = $1`, [user_id]);
    const refreshed = await app.refresh(tokens.refresh_token ?? '');
    expect(decodeJwt(refreshed.access_token).org_role).toBe('member');
    await run('leave', 'DELETE FROM memberships WHERE user_id = $1', [user_id]);
    await expect(app.refresh(refreshed.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  it('ends sign-in, refresh and UserInfo when the user is disabled', async () => {
    const { user_id, email } = await makeUser(server.database, {
      email: 'leaver@harbour.example',
      password,
      organisation: 'org_harbour',
      role: 'member',
    });
    const app = await App.registered(server);
    const { tokens } = await app.signIn('openid offline_access', { email });
    await run('disable', 'UPDATE users SET disabled_at = now() WHERE id = $1', [user_id]);
    await expect(app.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(client.fetchUserInfo(app.configuration, tokens.access_token, user_id)).rejects.toMatchObject(
      { status: 401 },
    );
    const { shown } = await app.authorize('openid', { email });
    expect(shown.status).toBe(401);
  });
});

describe('creators', () => {
  it('are published in the commit that registers or changes them', async () => {
    const outbox = new Outbox();
    const uuid = '01920000-0000-7000-8000-000000000001';
    const creator = {
      id: uuid,
      organisationId: 'org_harbour',
      name: 'A creator',
      paymentMethod: 'pm_ok',
      settlementCurrency: 'EUR',
    } as const;
    const registered = await registerCreator(server.database, outbox, creator);
    const repeated = await registerCreator(server.database, outbox, { ...creator, name: 'Another name' });
    expect(repeated).toMatchObject({ uuid, id: registered.id, name: 'A creator' });
    const changed = await changeCreator(server.database, outbox, {
      creator: registered.id,
      paymentMethod: 'pm_declined',
    });
    const rows = await server.database.rows<{ body: string }>(
      {
        name: 'test.outbox',
        text: 'SELECT body::text FROM outbox WHERE message_id = ANY ($1::uuid[]) ORDER BY position',
      },
      [[registered.message_id, repeated.message_id, changed.message_id]],
    );
    const published = rows.map(({ body }) => parseMessage(body));
    expect(published.map(({ type }) => type)).toEqual([
      'creator.registered',
      'creator.registered',
      'creator.changed',
    ]);
    expect(published[2]?.data).toMatchObject({
      creator: { id: uuid, version: 2, payment_method: 'pm_declined', settlement_currency: 'EUR' },
    });
    await expect(
      registerCreator(server.database, outbox, { ...creator, organisationId: 'org_meridian' }),
    ).rejects.toThrow('another organisation');
    await expect(
      changeCreator(server.database, outbox, { creator: 'crt_x', paymentMethod: 'pm_ok' }),
    ).rejects.toThrow('The creator crt_x does not exist.');
  });

  it('and users and clients with a given id or e-mail address are created once', async () => {
    const { database, secrets } = server;
    const user = {
      email: 'Twice@Harbour.example',
      password,
      organisation: 'org_harbour',
      role: 'member',
    } as const;
    const one = await makeUser(database, user);
    const two = await makeUser(database, { ...user, email: 'twice@harbour.example' });
    expect(two.user_id).toBe(one.user_id);
    const together = await Promise.all(
      [1, 2, 3].map(() => makeUser(database, { ...user, email: 'together@harbour.example' })),
    );
    expect(new Set(together.map(({ user_id }) => user_id)).size).toBe(1);
    const make = () =>
      createClient(
        database,
        {
          id: 'a-resource-server',
          name: 'RS',
          redirectUris: [],
          firstParty: false,
          confidential: true,
          resourceServer: true,
        },
        secrets,
      );
    const { client_id, client_secret } = await make();
    expect(client_secret).toEqual(expect.any(String));
    expect(await make()).toEqual({ client_id }); // a secret is shown once
  });
});

describe('user create for an existing user', () => {
  const given = {
    email: 'steady@harbour.example',
    name: 'Steady Example',
    password,
    organisation: 'org_harbour',
    role: 'member',
  } as const;
  const stored = async () =>
    server.database.row<{ password_hash: string; changed: string; global_admin: boolean }>(
      {
        name: 'test.steady',
        text: 'SELECT password_hash, password_changed_at::text AS changed, global_admin FROM users WHERE email = $1',
      },
      [given.email],
    );

  it('keeps the stored hash of an equal password, and replaces a different one', async () => {
    const created = await makeUser(server.database, given);
    const before = await stored();
    expect(await makeUser(server.database, given)).toEqual(created);
    expect(await stored()).toEqual(before);
    await makeUser(server.database, { ...given, password: 'another good password' });
    expect((await stored())?.changed).not.toBe(before?.changed);
    const app = await App.registered(server);
    expect((await app.authorize('orders:read', { email: given.email })).shown.status).toBe(401);
    await makeUser(server.database, given);
    expect((await app.authorize('orders:read', { email: given.email })).steps).toContain('consent');
  });

  it.each([
    ['of another organisation', { organisation: 'org_meridian' }],
    ['with another role', { role: 'owner' }],
    ['without an organisation', { organisation: undefined, role: undefined }],
    ['as an operator', { organisation: undefined, role: 'global_admin' }],
    ['with another name', { name: 'Somebody Else' }],
  ] as const)('is not taken over %s', async (_, change) => {
    await makeUser(server.database, given);
    const before = await stored();
    await expect(
      makeUser(server.database, { ...given, password: 'another good password', ...change }),
    ).rejects.toThrow('A user with this e-mail address already exists.');
    expect(await stored()).toEqual(before);
  });

  it('keeps the role of a global admin', async () => {
    const { email } = server.people.operator;
    await expect(makeUser(server.database, { ...given, email })).rejects.toThrow('already');
    await expect(makeUser(server.database, { email, password })).rejects.toThrow('already');
    const repeated = await makeUser(server.database, { email, password, role: 'global_admin' });
    expect(repeated).toEqual(server.people.operator);
  });
});

describe('expired records', () => {
  it('are deleted in batches, with the registration tokens of clients that were never authorized', async () => {
    const used = await App.registered(server);
    await used.signIn('orders:read');
    const unused = await App.registered(server);
    await run(
      'age',
      `UPDATE oidc_model SET expires_at = expires_at - interval '31 days' WHERE expires_at IS NOT NULL AND id = ANY ($1)`,
      [[used.clientId, unused.clientId]],
    );
    await run(
      'old',
      `INSERT INTO oidc_model (model, id, payload, expires_at)
       SELECT 'AccessToken', 'old-' || number, '{}', now() - interval '1 hour' FROM generate_series(1, 2500) AS number`,
    );
    while (await deleteExpiredRecords(server.database));
    const left = await server.database.rows<{ model: string; id: string }>(
      {
        name: 'test.left-over',
        text: `SELECT model, id FROM oidc_model WHERE id LIKE 'old-%' OR client_id = $1 OR id = ANY ($2)`,
      },
      [unused.clientId, [used.clientId, unused.clientId]],
    );
    expect(left).toEqual([{ model: 'Client', id: used.clientId }]);
  });
});
