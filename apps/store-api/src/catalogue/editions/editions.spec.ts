import { messages, uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { isDeepStrictEqual } from 'node:util';
import { creatorSnapshot, editionSnapshot } from '../../connected-creator/snapshots.fixture.js';
import { type StoreApiUnderTest, startStoreApi } from '../../test/store-api.fixture.js';

const releasesOf = statement(
  'test.releases-of',
  'SELECT name, artist_name, search_text FROM releases WHERE creator_id = $1 ORDER BY name',
);

describe('editions of the Creator API', () => {
  let store: StoreApiUnderTest;

  beforeAll(async () => {
    store = await startStoreApi();
    await store.release(uuidv7()); // its catalogue has the product types that editions need
  });
  afterAll(() => store.stop());

  const metadata = { occurredAt: new Date() };
  const registered = (id: string, name: string | null, version = 1) =>
    messages.creatorRegistered.make({ creator: creatorSnapshot(id, { name, version }) }, metadata);
  const created = (creatorId: string, title: string) =>
    messages.editionCreated.make({ edition: editionSnapshot(creatorId, { title }) }, metadata);
  /** Resolves with the releases of a creator, by name, when they have exactly these artists. */
  const untilArtists = (creatorId: string, names: readonly string[]) =>
    eventually(async () => {
      const rows = await store.database.rows<{ artist_name: string; search_text: string }>(releasesOf, [
        creatorId,
      ]);
      const artists = rows.map((row) => row.artist_name);
      return isDeepStrictEqual(artists, names) ? rows : undefined;
    });

  it('have their creator as artist, whether the creator or the edition arrives first, and are found by this name in any case', async () => {
    const id = uuidv7();
    await store.broker.publish(created(id, 'Early'));
    await untilArtists(id, ['']);
    await store.broker.publish(registered(id, 'ÅNGSTRÖM'), created(id, 'Late'));
    const rows = await untilArtists(id, ['ÅNGSTRÖM', 'ÅNGSTRÖM']);
    expect(rows.map((row) => row.search_text)).toEqual(['early ångström', 'late ångström']);
    const token = await store.tokens.token({ creator_id: id, client_id: 'c', scope: 'releases:read' });
    const { body } = await store.get(`/store/v1/releases?search=${encodeURIComponent('Ångström')}`, token);
    expect(body.data).toHaveLength(2);
  });

  it('get the artist name when the creator gets a name, and keep it when the creator changes it', async () => {
    const id = uuidv7();
    await store.broker.publish(registered(id, null), created(id, 'One'));
    await untilArtists(id, ['']);
    await store.broker.publish(registered(id, 'First', 2));
    await untilArtists(id, ['First']);
    await store.broker.publish(
      registered(id, 'Second', 3), // the edition One keeps its artist
      registered(id, 'First', 2), // outdated, so it changes nothing
      created(id, 'Two'), // gets the newest name
    );
    await untilArtists(id, ['First', 'Second']);
  });

  it('do not get the name of another creator', async () => {
    const [one, other] = [uuidv7(), uuidv7()];
    await store.broker.publish(created(one, 'Mine'), created(other, 'Theirs'), registered(one, 'Known'));
    await untilArtists(one, ['Known']);
    await untilArtists(other, ['']);
  });

  it('are added once as a pending release with one pending product', async () => {
    const { id, token } = await store.creator();
    const edition = editionSnapshot(id, { title: 'Night Ferry', ean: '2000000000022' });
    await store.publishAndWait(
      messages.editionCreated.make({ edition }, metadata),
      messages.editionCreated.make({ edition }, metadata),
    );
    const { body } = await store.get('/store/v1/releases?search=night', token);
    expect(body.data).toMatchObject([
      { name: 'Night Ferry', artist_name: 'Harbour Lights', price_range: null },
    ]);
    const { body: release } = await store.get(`/store/v1/releases/${body.data[0].id}`, token);
    expect(release).toMatchObject({
      status: 'pending',
      products: [{ status: 'pending', barcode: '2000000000022' }],
    });
  });
});
