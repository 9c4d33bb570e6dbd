import { publicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { executedGenericPlan, type PlanNode } from '@fulfilment/database/testing';
import { type StoreApiUnderTest, startStoreApi, type Creator } from '../../test/store-api.fixture.js';
import { searchByIndex } from './release-statements.js';
import { searchPattern } from '../search.rules.js';

const insertMany = statement(
  'test.many-releases',
  `INSERT INTO releases (id, creator_id, name, artist_name, search_text, created_at)
   SELECT gen_random_uuid(), :creator_id::uuid, :name::text || n, 'Harbour Lights',
          lower(:name::text) || n || ' harbour lights', :created_at::timestamptz
   FROM generate_series(:first::int, :last::int) AS n`,
);
const analyse = statement('test.analyse', 'ANALYZE releases');
const readIds = statement('test.release-ids', 'SELECT id FROM releases WHERE creator_id = $1');

describe('a catalogue of many releases', () => {
  let store: StoreApiUnderTest;
  let creator: Creator;

  beforeAll(async () => {
    store = await startStoreApi({ RATE_LIMIT_DEFAULT: '100000/60' });
    creator = await store.creator();
  });
  afterAll(() => store.stop());

  const sameTime = new Date('2026-01-01T00:00:00.123Z');
  /** Inserts at most 10,000 releases per statement, so that none exceeds its timeout on a busy machine. */
  const insert = async (name: string, count: number, createdAt = sameTime, owner = creator) => {
    const release = { creator_id: owner.id, name, created_at: createdAt };
    for (let first = 1; first <= count; first += 10_000)
      await store.database.run(insertMany, { ...release, first, last: Math.min(first + 9_999, count) });
  };
  const names = async (query: string): Promise<string[]> =>
    (await store.get(`/store/v1/releases?${query}`, creator.token)).body.data.map(
      ({ name }: { name: string }) => name,
    );

  it('lists each of 10,000 releases of the same time exactly once while others are added', async () => {
    await insert('Walk ', 10_000);
    const before = await store.database.rows<{ id: string }>(readIds, [creator.id]);
    const seen: string[] = [];
    let query = 'limit=100';
    for (;;) {
      const { body } = await store.get(`/store/v1/releases?${query}`, creator.token);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      if (seen.length % 2000 === 0) await insert('Newer ', 5, new Date());
      if (!body.pagination.has_more) break;
      query = `limit=100&cursor=${body.pagination.next_cursor}`;
    }
    expect(seen).toHaveLength(10_000);
    expect(seen.sort()).toEqual(before.map(({ id }) => publicId('prod', id)).sort());
  });

  describe('with 90,000 releases of one name and 30 of another', () => {
    beforeAll(async () => {
      await insert('Common ', 90_000, new Date('2025-06-01'));
      await insert('Rare Bird ', 30, new Date('2020-01-01'));
      await store.database.run(analyse);
    });

    const planFor = (term: string): Promise<readonly PlanNode[]> =>
      executedGenericPlan(store.database, searchByIndex, {
        creator_id: creator.id,
        currency: 'GBP',
        max_rows: 26, // a page of 25 (the default), and one row more
        pattern: searchPattern(term),
      });
    const indexScanOf = (rows: number) =>
      expect.objectContaining({ 'Index Name': 'releases_search', 'Actual Rows': rows });

    it('is searched by index, with a plan that does not depend on the term', async () => {
      const nodes = await planFor('rare bird');
      expect(nodes).toContainEqual(indexScanOf(30));
      // The plan also has a branch for many matches, which is not executed.
      const executed = nodes.filter((node) => node['Actual Loops'] !== 0);
      expect(executed).not.toContainEqual(
        expect.objectContaining({ 'Node Type': 'Seq Scan', 'Relation Name': 'releases' }),
      );
    });

    it('reads no releases of other creators, however many match the term', async () => {
      await insert('Elsewhere ', 20_000, sameTime, await store.creator());
      expect(await planFor('elsewhere')).toContainEqual(indexScanOf(0));
    });

    it('continues a list of releases before a time, and rejects its cursor with other times', async () => {
      const before = 'created_before=2020-01-02T00:00:00Z'; // after the 30 releases of the other name
      const { body } = await store.get(`/store/v1/releases?limit=20&${before}`, creator.token);
      const cursor = `cursor=${body.pagination.next_cursor}`;
      expect(await names(`limit=20&${before}&${cursor}`)).toHaveLength(30 - 20);
      for (const times of [
        '',
        'created_before=2020-01-03T00:00:00Z',
        `created_after=2019-01-01T00:00:00Z&${before}`,
      ]) {
        const rejected = await store.get(`/store/v1/releases?${times}&${cursor}`, creator.token);
        expect([rejected.status, rejected.body.details[0].field]).toEqual([400, 'cursor']);
      }
    });

    it('lists and finds releases that were created between two times', async () => {
      const days = 'created_after=2019-12-31T00:00:00Z&created_before=2025-06-01T00:00:00Z&limit=100';
      expect(await names(days)).toHaveLength(30);
      expect(await names(`${days}&search=bird`)).toHaveLength(30);
      expect(await names(`${days}&search=common`)).toEqual([]); // created at the end of the span
      expect(await names('created_after=2020-01-01T00:00:00Z&search=bird')).toEqual([]);
    });

    it.each([
      ['few', 'rare', 10],
      ['many', 'common', 20],
    ])('continues a list of %s matches', async (_, term, rest) => {
      const search = `search=${term}&limit=20`;
      const { body } = await store.get(`/store/v1/releases?${search}`, creator.token);
      expect(await names(`${search}&cursor=${body.pagination.next_cursor}`)).toHaveLength(rest);
    });

    it('ignores case, and finds nothing for a term without a match, even if the term is too short for the index', async () => {
      expect(await names('search=RARE%20bird&limit=100')).toHaveLength(30);
      expect(await names('search=nobody')).toEqual([]);
      expect(await names('search=zz')).toEqual([]);
    });

    it('lists the newest matches first', async () => {
      await insert('Latest ', 2, new Date());
      const newest = await names('search=harbour&limit=3');
      expect(newest.map((name) => name.startsWith('Latest'))).toEqual([true, true, false]);
    });
  });
});
