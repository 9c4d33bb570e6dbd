import { describe, expect, it } from '@jest/globals';
import { type CreatorSnapshot, messages } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { systemClock } from '@fulfilment/runtime';
import { App } from '../test/app.js';
import { makeUser } from '../test/make-user.js';
import { serverWithOperator } from '../test/operator.js';
import { password } from '../test/running-server.js';
import { replayCreators } from './replay-creators.js';

const given = serverWithOperator();

const readChanges = statement(
  'test.changes-of-creator',
  `SELECT body -> 'data' -> 'creator' AS creator FROM outbox
   WHERE type = 'creator.changed' AND body -> 'data' -> 'creator' ->> 'id' = $1`,
);

async function replay(): Promise<CreatorSnapshot[]> {
  const published = [];
  for await (const page of replayCreators(given.server.database, systemClock, 2)) {
    expect(page.length).toBeLessThanOrEqual(2);
    published.push(...page);
  }
  return published.flatMap((message) => (messages.replayCreator.is(message) ? [message.data.creator] : []));
}

it('replayCreators yields the current state of every creator, page by page', async () => {
  const register = (name: string) =>
    given.operator.run('creator create', { organisation: 'org_harbour', name, 'payment-method': 'pm_ok' });
  for (const name of ['One', 'Two', 'Three']) await register(name);
  const { uuid } = await register('Four');
  await given.operator.run('creator change', { CREATOR: uuid, name: 'Fourth' });
  const creators = await replay();
  expect(new Set(creators.map(({ id }) => id)).size).toBe(creators.length);
  expect(creators).toContainEqual(expect.objectContaining({ id: uuid, version: 2, name: 'Fourth' }));
  expect(creators.map(({ name }) => name)).toEqual(expect.arrayContaining(['One', 'Two', 'Three']));
});

describe('the apps of a published creator', () => {
  it('are those that people who may act for the creator have connected, and first-party ones', async () => {
    const { harbour, dashboard } = given.server.people;
    const email = 'apps@suite.example';
    const role = (name: string) =>
      given.operator.run('user role', { USER: email, role: name, organisation: 'org_harbour' });
    await makeUser(given.server.database, { email, password, organisation: 'org_harbour', role: 'member' });
    const app = await App.registered(given.server);
    const newest = async () => {
      const rows = await given.server.database.rows<{ creator: CreatorSnapshot }>(readChanges, [
        harbour.uuid,
      ]);
      const versions = rows
        .map(({ creator }) => creator)
        .toSorted((one, other) => one.version - other.version);
      return versions.at(-1);
    };
    const find = (creator: CreatorSnapshot | undefined, id: string) =>
      creator?.apps?.find(({ client_id }) => client_id === id);

    await app.signIn('orders:read offline_access', { email });
    const connected = await newest();
    expect(find(connected, app.clientId)).toEqual({
      client_id: app.clientId,
      name: 'A third-party app',
      first_party: false,
      connected_at: expect.stringMatching(/^20.*Z$/),
    });
    const firstParty = { client_id: dashboard.client_id, first_party: true, connected_at: null };
    expect(find(connected, dashboard.client_id)).toMatchObject(firstParty);
    expect(
      find(
        (await replay()).find(({ id }) => id === harbour.uuid),
        app.clientId,
      ),
    ).toBeDefined();

    let version = connected?.version ?? 0;
    for (const [change, isConnected] of [
      [() => given.operator.run('user disable', { USER: email }), false],
      [() => given.operator.run('user enable', { USER: email }), true],
      [() => role('none'), false],
      [() => role('member'), true],
      [() => given.operator.run('client delete', { CLIENT: app.clientId }), false],
    ] as const) {
      await change();
      const creator = await newest();
      version += 1;
      expect([creator?.version, find(creator, app.clientId) !== undefined]).toEqual([version, isConnected]);
    }
  });
});
