import { type CreatorSnapshot, type Message, messages, uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually, publishedMessages } from '@fulfilment/testing';
import { type StoreApiUnderTest, startStoreApi } from '../test/store-api.fixture.js';
import { CreatorMessagesConsumer } from './creator-messages.consumer.js';
import { creatorSnapshot, editionSnapshot } from './snapshots.fixture.js';

const occurredAt = new Date();
const trackOf = (release_id: string) =>
  messages.trackProcessed.make(
    { release_id, track_id: uuidv7(), title: null, position: null, duration_seconds: 214 },
    { occurredAt },
  );
const changeOf = (id: string, changes: Partial<CreatorSnapshot> = {}) =>
  messages.creatorChanged.make({ creator: creatorSnapshot(id, changes) }, { occurredAt });
const editionBy = (creatorId: string) =>
  messages.editionCreated.make({ edition: editionSnapshot(creatorId) }, { occurredAt });
const wholeRow = statement(
  'test.creator-row',
  'SELECT row_to_json(creators)::text AS row FROM creators WHERE id = $1',
);
const existing = statement(
  'test.existing',
  `SELECT id FROM creators WHERE id = ANY ($1::uuid[]) UNION SELECT id FROM releases WHERE id = ANY ($1::uuid[])
   UNION SELECT release_id FROM processed_tracks WHERE release_id = ANY ($1::uuid[])`,
);
const countTracks = statement(
  'test.count-tracks',
  'SELECT count(*) AS tracks FROM processed_tracks WHERE release_id = ANY($1::uuid[])',
);

describe('messages about creators and their releases', () => {
  let store: StoreApiUnderTest;
  beforeAll(async () => {
    store = await startStoreApi();
    await store.release(uuidv7()); // loads the product types
  });
  afterAll(() => store.stop());

  const handle = (batch: readonly Message[]) =>
    store.database.transaction((tx) => store.app.get(CreatorMessagesConsumer).handle(tx, batch));
  const ids = Array.from({ length: 40 }, () => uuidv7());

  it.each<[string, (id: string) => Message]>([
    ['tracks', trackOf],
    ['creators', changeOf],
    ['editions', editionBy],
  ])('do not deadlock two transactions that handle them in opposite orders (%s)', async (_, messageAbout) => {
    await Promise.all([handle(ids.map(messageAbout)), handle(ids.toReversed().map(messageAbout))]);
  });

  it('are all applied when concurrent transactions handle tracks of the same releases', async () => {
    const releases = Array.from({ length: 20 }, () => uuidv7());
    await Promise.all([
      handle(releases.map(trackOf)),
      handle(releases.toReversed().map(trackOf)),
      handle(releases.map(trackOf)),
    ]);
    expect(await store.database.row(countTracks, [releases])).toEqual({ tracks: 60 });
  });

  it('redact the name and payment method of a creator, even when an older message arrives later', async () => {
    const id = uuidv7();
    const token = await store.tokens.token({ creator_id: id, client_id: 'c', scope: 'creator:read' });
    const redacted = { version: 2, name: null, payment_method: null };
    await store.broker.publish(changeOf(id));
    const view = async () => (await store.get('/store/v1/creator', token)).body;
    await eventually(async () => (await view()).name === 'Harbour Lights');
    await store.broker.publish(changeOf(id, redacted), changeOf(id));
    await eventually(async () => (await view()).name === null);
    await handle([changeOf(id)]);
    expect(await view()).toMatchObject({ name: null, billing_status: { payment_method_added: false } });
    const row = (await store.database.row<{ row: string }>(wholeRow, [id]))?.row;
    expect(row).toContain(id);
    for (const text of ['Harbour Lights', 'pm_ok']) expect(row).not.toContain(text);
  });

  it('are applied in the form in which earlier versions of the suite published them', async () => {
    const published = publishedMessages('store-api.creators');
    const subjects = published.map((message) => {
      if (messages.editionCreated.is(message)) return message.data.edition.id;
      if (messages.trackProcessed.is(message)) return message.data.release_id;
      const isCreator = messages.creatorRegistered.is(message) || messages.creatorChanged.is(message);
      return isCreator ? message.data.creator.id : message.type; // a new type is not found below
    });
    await handle(published);
    const found = await store.database.rows<{ id: string }>(existing, [subjects]);
    expect(subjects.length).toBeGreaterThan(3); // the queue receives four types
    expect(new Set(found.map(({ id }) => id))).toEqual(new Set(subjects));
  });
});
