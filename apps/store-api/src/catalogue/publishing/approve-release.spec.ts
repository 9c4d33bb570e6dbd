import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { blocksRead, executedGenericPlan, executedPlan } from '@fulfilment/database/testing';
import { setUpDatabase } from '../../test/scratch.fixture.js';
import { catalogueOf } from '../catalogue-file.fixture.js';
import { loadCatalogue } from '../load-catalogue.js';
import { readPendingReleases } from './approve-release.js';

const insertCreator = statement(
  'test.insert-creator',
  `INSERT INTO creators (id, version, organisation_id, payment_terms_accepted, tax_interview_completed, registered_at, test)
   VALUES ($1, 1, 'org', true, true, now(), $2)`,
);
const insertProductsOfOthers = statement(
  'test.insert-products-of-others',
  `WITH releases_of_others AS (
     INSERT INTO releases (id, creator_id, name, artist_name, search_text)
     SELECT gen_random_uuid(), gen_random_uuid(), '', 'a', '' FROM generate_series(1, 20000) RETURNING id, creator_id
   )
   INSERT INTO products (id, release_id, creator_id, position, title, product_type, status, lead_time_days, royalty_rate)
   SELECT gen_random_uuid(), id, creator_id, 1, '', 'vinyl_12_lp', 'pending', 1, 1 FROM releases_of_others`,
);
const analyse = statement('test.analyse', 'ANALYZE creators, releases, products');
/** Enough for the indexes and a few rows; a scan of all products reads hundreds of blocks. */
const maxBlocks = 30;

describe('the pending releases of a test creator', () => {
  const scratch = setUpDatabase();

  it('are read by indexes, whatever the number of products; a live creator has none', async () => {
    const { database } = scratch;
    const [test, live] = [uuidv7(), uuidv7()];
    const pending = catalogueOf(test, [{ status: 'pending' }, { status: 'pending' }, {}]);
    await loadCatalogue(database, pending.file);
    await loadCatalogue(database, catalogueOf(test, [{}]).file);
    await loadCatalogue(database, catalogueOf(live, [{ status: 'pending' }]).file);
    await database.run(insertCreator, [test, true]);
    await database.run(insertCreator, [live, false]);
    await database.run(insertProductsOfOthers);
    const read = (creator_id: string) => database.rows(readPendingReleases, { creator_id });
    expect([await read(test), await read(live)]).toEqual([[{ id: pending.id }], []]);
    for (const isAnalysed of [false, true]) {
      if (isAnalysed) await database.run(analyse);
      for (const creator_id of [test, live])
        for (const plan of [executedPlan, executedGenericPlan]) {
          const [root] = await plan(database, readPendingReleases, { creator_id });
          expect(blocksRead(root)).toBeLessThan(maxBlocks);
        }
    }
  });
});
