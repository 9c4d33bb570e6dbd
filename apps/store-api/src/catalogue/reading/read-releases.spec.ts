import { countReplicaReads } from '@fulfilment/database/testing';
import { type StoreApiUnderTest, startStoreApi, type Creator } from '../../test/store-api.fixture.js';

describe('GET /v1/releases', () => {
  let store: StoreApiUnderTest;
  let creator: Creator;

  beforeAll(async () => {
    store = await startStoreApi({ DATABASE_READ_URL: 'postgres://replica.example/test' });
    creator = await store.creator();
  });
  afterAll(() => store.stop());

  const list = async (query = '', token = creator.token) => store.get(`/store/v1/releases${query}`, token);

  it.each([
    ['a page', '', 1],
    ['a search', '?search=view', 1],
    ['a page and its details', '?format=detailed', 2],
  ])('reads %s from a read replica', async (_, query, count) => {
    // The replica is absent, so each read of it is counted as `lagging` and runs on the primary.
    const { lagging = 0 } = await countReplicaReads();
    expect((await list(query)).status).toBe(200);
    expect(await countReplicaReads()).toEqual({ lagging: lagging + count });
  });

  it.each(['', '?format=detailed', '?search=view'])(
    'lists no releases%s for a token without a creator',
    async (query) => {
      await store.release(creator.id, [{}], 'Another View');
      const { status, body } = await list(query, await store.tokens.token({ scope: 'releases:read' }));
      expect([status, body]).toEqual([200, { data: [], pagination: { next_cursor: null, has_more: false } }]);
    },
  );

  it('returns a release with products, tracks and the price in the requested currency', async () => {
    const { id, skus } = await store.release(
      creator.id,
      [{ quantity: 5 }, { status: 'unavailable' }],
      'Full View',
    );
    const { body } = await store.get(`/store/v1/releases/${id}?currency=JPY`, creator.token);
    expect(body).toEqual({
      id,
      name: 'Full View',
      artist_name: 'Harbour Lights',
      additional_artists: [],
      release_date: '2026-03-01',
      description: null,
      cover_image_url: null,
      copyright: null,
      status: 'available',
      created_at: expect.stringMatching(/Z$/),
      products: [
        {
          id: skus[0],
          title: 'Full View 1',
          created_at: expect.any(String),
          status: 'available',
          track_listing: [{ position: 1, title: 'Low Water', duration_seconds: 215, side: 'A' }],
          product_type: 'vinyl_12_lp',
          product_lead_time: 10,
          price: { amount: 4800, currency: 'JPY' },
          weight_grams: null,
          barcode: '2000000000015',
          glb_model: null,
          availability: { limited_edition: true, quantity: 5 },
        },
        expect.objectContaining({ id: skus[1], status: 'unavailable' }),
      ],
    });
  });

  it('lists every release once, even while another one is added', async () => {
    const owner = await store.creator();
    for (let index = 0; index < 7; index += 1) await store.release(owner.id, [{}], `Walk ${index}`);
    const seen: string[] = [];
    let query = '?limit=2';
    for (;;) {
      const { body } = await list(query, owner.token);
      seen.push(...body.data.map(({ name }: { name: string }) => name));
      // The new release is before the first page, which was read already.
      if (seen.length === 2) await store.release(owner.id, [{}], 'Late');
      expect(body.pagination.has_more).toBe(body.pagination.next_cursor !== null);
      if (!body.pagination.has_more) break;
      query = `?limit=3&format=detailed&currency=USD&cursor=${body.pagination.next_cursor}`;
    }
    expect(seen.sort()).toEqual(Array.from({ length: 7 }, (_, index) => `Walk ${index}`));
  });

  it('searches name and artist, with % and _ as literal characters, and lists all for invisible text', async () => {
    const owner = await store.creator();
    await store.release(owner.id, [{}], '100% Salt_Water');
    await store.release(owner.id, [{}], 'Plain');
    const found = async (term: string) =>
      (await list(`?search=${encodeURIComponent(term)}`, owner.token)).body.data.map(
        ({ name }: { name: string }) => name,
      );
    expect(await found('salt')).toEqual(['100% Salt_Water']);
    expect(await found('%')).toEqual(['100% Salt_Water']);
    expect(await found('_')).toEqual(['100% Salt_Water']);
    expect(await found('HARBOUR')).toHaveLength(2);
    expect(await found('nothing')).toEqual([]);
    for (const empty of ['', ' ', '\u200b', '\u00ad', '\u3164']) expect(await found(empty)).toHaveLength(2);
  });

  it('returns the price range of available products only, and null without any', async () => {
    const owner = await store.creator();
    await store.release(owner.id, [{ status: 'pending' }], 'Unpriced');
    await store.release(
      owner.id,
      [
        {},
        { product_type: 'vinyl_7_single', prices: { GBP: 1199, USD: 1399, EUR: 1299, JPY: 2200 } },
        { status: 'unavailable', prices: { GBP: 1, USD: 1, EUR: 1, JPY: 1 } },
      ],
      'Priced',
    );
    const { body } = await list('?format=detailed', owner.token);
    const [priced, unpriced] = body.data;
    expect(priced).toMatchObject({
      price_range: { currency: 'GBP', min: 1199, max: 2499 },
      status: 'available',
    });
    expect(priced.product_types.sort()).toEqual(['vinyl_12_lp', 'vinyl_7_single']);
    expect(priced.products).toHaveLength(3);
    expect(unpriced).toMatchObject({ price_range: null, status: 'pending' });
  });

  it('rejects an unsupported currency for a single release too', async () => {
    const { id } = await store.release(creator.id);
    const { status, body } = await store.get(`/store/v1/releases/${id}?currency=CHF`, creator.token);
    expect([status, body.details[0].field]).toEqual([400, 'currency']);
  });

  it('accepts a cursor only for the list, search and creator that it was created for', async () => {
    const owner = await store.creator();
    for (const name of ['One', 'Two']) await store.release(owner.id, [{}], name);
    const { body } = await list('?limit=1', owner.token);
    const cursor = body.pagination.next_cursor;
    expect((await list(`?limit=1&cursor=${cursor}`, owner.token)).status).toBe(200);
    expect((await list(`?limit=1&search=o&cursor=${cursor}`, owner.token)).status).toBe(400);
    expect((await list(`?limit=1&cursor=${cursor}`)).status).toBe(400);
    expect((await list('?cursor=forged', owner.token)).body.details[0].field).toBe('cursor');
    expect((await store.get(`/store/v1/orders?cursor=${cursor}`, owner.token)).status).toBe(400);
  });

  it("returns 404 for another creator's release and for an invalid id", async () => {
    const otherCreator = await store.creator();
    const { id } = await store.release(otherCreator.id);
    for (const unknown of [id, 'prod_x', 'nonsense', '%00']) {
      expect((await store.get(`/store/v1/releases/${unknown}`, creator.token)).status).toBe(404);
    }
  });
});
