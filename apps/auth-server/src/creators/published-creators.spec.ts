import { type CreatorSnapshot, messages } from '@fulfilment/contracts';
import { Outbox } from '@fulfilment/messaging';
import { systemClock } from '@fulfilment/runtime';
import { App } from '../test/app.fixture.js';
import { messagesInOutbox } from '../test/messages-in-outbox.fixture.js';
import { makeUser, password } from '../test/users.fixture.js';
import { runCommand, startServerWithOperator } from '../test/operator.fixture.js';
import { server } from '../test/server.fixture.js';
import { createCreatorOptions, registerCreator } from './register-creator.js';
import { replayCreators } from './replay-creators.js';
import { testStatement } from '../test/test-statement.fixture.js';

startServerWithOperator();

const readChanges = testStatement(`SELECT body -> 'data' -> 'creator' AS creator FROM outbox
  WHERE type = 'creator.changed' AND body -> 'data' -> 'creator' ->> 'id' = $1`);

async function replayAll(): Promise<CreatorSnapshot[]> {
  const pageSize = 2;
  const published = [];
  for await (const page of replayCreators(server.database, systemClock, pageSize)) {
    expect(page.length).toBeLessThanOrEqual(pageSize);
    published.push(...page);
  }
  return published.flatMap((message) => (messages.replayCreator.is(message) ? [message.data.creator] : []));
}

it('replayCreators yields the current state of creators page by page, each once', async () => {
  const register = (name: string) =>
    runCommand('creator create', { organisation: 'org_harbour', name, 'payment-method': 'pm_ok' });
  for (const name of ['One', 'Two', 'Three']) await register(name);
  const { uuid } = await register('Four');
  await runCommand('creator change', { CREATOR: uuid, name: 'Fourth' });
  const creators = await replayAll();
  expect(new Set(creators.map(({ id }) => id)).size).toBe(creators.length);
  expect(creators).toContainEqual(expect.objectContaining({ id: uuid, version: 2, name: 'Fourth' }));
  expect(creators.map(({ name }) => name)).toEqual(expect.arrayContaining(['One', 'Two', 'Three']));
});

describe('the apps of a published creator', () => {
  it('are those that people who may act for the creator have connected, and first-party ones', async () => {
    const { harbour } = server.creators;
    const { dashboard } = server.clients;
    const email = 'apps@suite.example';
    const setRole = (role: string) =>
      runCommand('user role', { USER: email, role, organisation: 'org_harbour' });
    await makeUser(server.database, { email, password, organisation: 'org_harbour', role: 'member' });
    const app = await App.register(server);
    const newestSnapshot = async () => {
      const rows = await server.database.rows<{ creator: CreatorSnapshot }>(readChanges, [harbour.uuid]);
      const versions = rows
        .map(({ creator }) => creator)
        .toSorted((one, other) => one.version - other.version);
      return versions.at(-1);
    };
    const appOf = (creator: CreatorSnapshot | undefined, id: string) =>
      creator?.apps?.find(({ client_id }) => client_id === id);

    await app.signIn('orders:read offline_access', { email });
    const connected = await newestSnapshot();
    expect(appOf(connected, app.clientId)).toEqual({
      client_id: app.clientId,
      name: 'A third-party app',
      first_party: false,
      connected_at: expect.stringMatching(/^20.*Z$/),
    });
    const firstParty = { client_id: dashboard.client_id, first_party: true, connected_at: null };
    expect(appOf(connected, dashboard.client_id)).toMatchObject(firstParty);
    const replayed = (await replayAll()).find(({ id }) => id === harbour.uuid);
    expect(appOf(replayed, app.clientId)).toBeDefined();

    let version = connected?.version ?? 0;
    for (const [change, isConnected] of [
      [() => runCommand('user disable', { USER: email }), false],
      [() => runCommand('user enable', { USER: email }), true],
      [() => setRole('none'), false],
      [() => setRole('member'), true],
      [() => runCommand('client delete', { CLIENT: app.clientId }), false],
    ] as const) {
      await change();
      const creator = await newestSnapshot();
      version += 1;
      expect([creator?.version, appOf(creator, app.clientId) !== undefined]).toEqual([version, isConnected]);
    }
  });
});

describe('registerCreator', () => {
  const outbox = new Outbox();
  const creator = createCreatorOptions.parse({
    id: '01920000-0000-7000-8000-000000000001',
    organisation: 'org_harbour',
    name: 'A creator',
    'payment-method': 'pm_ok',
  });

  it('publishes an existing creator once more, without a change', async () => {
    const registered = await registerCreator(server.database, outbox, creator);
    const repeated = await registerCreator(server.database, outbox, { ...creator, name: 'Another name' });
    expect(repeated).toMatchObject({ uuid: creator.id, id: registered.id, name: 'A creator' });
    const published = { type: 'creator.registered', data: { creator: { version: 1, name: 'A creator' } } };
    expect(await messagesInOutbox(registered.message_id, repeated.message_id)).toMatchObject([
      published,
      published,
    ]);
  });

  it('rejects the id of a creator of another organisation', async () => {
    await registerCreator(server.database, outbox, creator);
    await expect(
      registerCreator(server.database, outbox, { ...creator, organisation_id: 'org_meridian' }),
    ).rejects.toThrow('another organisation');
  });
});
