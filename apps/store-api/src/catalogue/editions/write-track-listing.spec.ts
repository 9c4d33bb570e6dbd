import { type Message, messages, publicId, uuidv7 } from '@fulfilment/contracts';
import { editionSnapshot } from '../../connected-creator/snapshots.fixture.js';
import { type StoreApiUnderTest, startStoreApi, type Creator } from '../../test/store-api.fixture.js';
import { catalogueOf } from '../catalogue-file.fixture.js';
import { loadCatalogue } from '../load-catalogue.js';
import type { ProcessedTrackData } from './write-track-listing.js';

describe('processed tracks of the Creator API', () => {
  let store: StoreApiUnderTest;
  let creator: Creator;
  beforeAll(async () => {
    store = await startStoreApi();
    creator = await store.creator();
    await store.release(creator.id); // loads the product types
  });
  afterAll(() => store.stop());

  const atSecond = (second: number) => ({ occurredAt: new Date(Date.UTC(2026, 10, 1, 12, 0, second)) });
  const processed = (
    release_id: string,
    second: number,
    {
      track_id = uuidv7(),
      title = 'Slow Signal',
      position = null,
      duration_seconds = 214,
      registered_at,
    }: Partial<ProcessedTrackData>,
  ) =>
    messages.trackProcessed.make(
      { release_id, track_id, title, position, duration_seconds, registered_at },
      atSecond(second),
    );
  const created = (id: string) =>
    messages.editionCreated.make({ edition: editionSnapshot(creator.id, { id }) }, atSecond(0));
  const products = async (releaseId: string) => {
    const { body } = await store.get(`/store/v1/releases/${publicId('prod', releaseId)}`, creator.token);
    return body.products;
  };
  const listing = async (releaseId: string) => (await products(releaseId))[0].track_listing;

  it('are listed by position; a track without a position is last, and one without a title is named by its position', async () => {
    const id = uuidv7();
    await store.publishAndWait(
      created(id),
      processed(id, 1, { title: 'Low Water', position: 2, duration_seconds: 215 }),
      processed(id, 2, { title: 'Slow Signal', position: 1 }),
      processed(id, 3, { title: null }),
    );
    expect(await listing(id)).toEqual([
      { position: 1, title: 'Slow Signal', duration_seconds: 214, side: null },
      { position: 2, title: 'Low Water', duration_seconds: 215, side: null },
      { position: 3, title: 'Track 3', duration_seconds: 214, side: null },
    ]);
  });

  it('are listed when their release arrives after them', async () => {
    const id = uuidv7();
    await store.publishAndWait(
      processed(id, 1, { position: 1 }),
      processed(id, 2, { position: 2, title: 'Low Water' }),
    );
    await store.publishAndWait(created(id));
    expect((await listing(id)).map(({ title }: { title: string }) => title)).toEqual([
      'Slow Signal',
      'Low Water',
    ]);
  });

  it('are listed next to the tracks of the catalogue, on every product', async () => {
    const { uuid } = await store.release(creator.id, [{}, {}]);
    await store.publishAndWait(processed(uuid, 1, { title: 'New', position: 1 }));
    for (const product of await products(uuid)) {
      expect(product.track_listing).toEqual([
        { position: 1, title: 'Low Water', duration_seconds: 215, side: 'A' },
        { position: 2, title: 'New', duration_seconds: 214, side: null },
      ]);
    }
  });

  it('are listed on a product that a later catalogue file adds to their release', async () => {
    const { file, id } = catalogueOf(creator.id, [{ tracks: [] }, { tracks: [] }]);
    const [release] = file.releases;
    if (release === undefined) throw new Error('The file has one release.');
    const firstProduct = { ...release, products: release.products.slice(0, 1) };
    await loadCatalogue(store.database, { ...file, releases: [firstProduct] });
    await store.publishAndWait(processed(id, 1, { position: 1 }));
    await loadCatalogue(store.database, file);
    for (const product of await products(id))
      expect(product.track_listing).toMatchObject([{ position: 1, title: 'Slow Signal' }]);
  });

  it('are replaced by a newer version, and not by an older one that arrives late', async () => {
    const [id, track_id] = [uuidv7(), uuidv7()];
    await store.publishAndWait(
      created(id),
      processed(id, 5, { track_id, title: 'Second take', position: 3, duration_seconds: 100 }),
      processed(id, 1, { track_id, title: 'First take', position: 1, duration_seconds: 90 }),
    );
    expect(await listing(id)).toEqual([
      { position: 3, title: 'Second take', duration_seconds: 100, side: null },
    ]);
    await store.publishAndWait(processed(id, 9, { track_id, title: 'Third take', duration_seconds: 80 }));
    expect(await listing(id)).toEqual([
      { position: 1, title: 'Third take', duration_seconds: 80, side: null },
    ]);
  });

  it('come from the upload that was registered last, not the one that was processed last', async () => {
    const [id, track_id] = [uuidv7(), uuidv7()];
    const [first, second] = [1, 2].map((registered) => atSecond(registered).occurredAt.toISOString());
    await store.publishAndWait(
      created(id),
      processed(id, 5, { track_id, title: 'Second take', registered_at: second }),
      processed(id, 9, { track_id, title: 'First take', registered_at: first }),
    );
    expect(await listing(id)).toMatchObject([{ title: 'Second take' }]);
  });

  it('have the same listing in four orders of arrival, even with repetitions', async () => {
    const listings = [];
    const arrivals: ((sentMessages: Message[]) => Message[])[] = [
      (sentMessages) => sentMessages,
      (sentMessages) => sentMessages.toReversed(),
      (sentMessages) => [...sentMessages.slice(2), ...sentMessages.slice(0, 2), ...sentMessages],
      (sentMessages) => [...sentMessages.slice(4), ...sentMessages.slice(0, 4)],
    ];
    const tracks = Array.from({ length: 3 }, () => uuidv7());
    for (const inOrderOfArrival of arrivals) {
      const id = uuidv7();
      const sentMessages = [
        created(id),
        processed(id, 1, { track_id: tracks[0], title: 'One', position: 1 }),
        processed(id, 2, { track_id: tracks[1], title: 'Two', position: 1 }),
        processed(id, 3, { track_id: tracks[2], title: null }),
        processed(id, 4, { track_id: tracks[0], title: 'One again', position: 4 }),
      ];
      await store.publishAndWait(...inOrderOfArrival(sentMessages));
      listings.push(await listing(id));
    }
    expect(
      listings[0].map(({ position, title }: { position: number; title: string }) => [position, title]),
    ).toEqual([
      [1, 'Two'],
      [4, 'One again'],
      [5, 'Track 5'],
    ]);
    for (const other of listings) expect(other).toEqual(listings[0]);
  });

  it('change the ETag of the release', async () => {
    const id = uuidv7();
    await store.publishAndWait(created(id));
    const path = `/store/v1/releases/${publicId('prod', id)}`;
    const before = (await store.get(path, creator.token)).headers['etag'];
    await store.publishAndWait(processed(id, 1, {}));
    expect((await store.get(path, creator.token)).headers['etag']).not.toBe(before);
  });
});
