import { statement } from '@fulfilment/database';
import { blocksRead, executedPlan, scratchDatabase } from '@fulfilment/database/testing';
import { migrations } from '../migrations/index.js';
import { moveEndedToAuditLog } from './counted-records.js';

const insert = statement(
  'test.insert-counts',
  `INSERT INTO guess_counts (subject, locked_attempts, locked_record, locked_from, locked_until)
   SELECT n::text, 1, '{}', now(), now() + $1::interval FROM generate_series(1, 20000) AS n`,
);
const analyse = statement('test.analyse', 'ANALYZE guess_counts');
const truncate = statement('test.truncate', 'TRUNCATE guess_counts');

describe('the search for counted records of ended windows', () => {
  it('reads no other counts, even if the statistics are from a time when all windows had ended', async () => {
    const scratch = await scratchDatabase(migrations);
    const { database } = scratch;
    try {
      await database.run(insert, ['-1 minute']);
      await database.run(analyse);
      await database.run(truncate);
      await database.run(insert, ['1 minute']);
      const [root] = await executedPlan(database, moveEndedToAuditLog);
      expect(blocksRead(root)).toBeLessThan(20); // a scan of all counts reads thousands
    } finally {
      await scratch.drop();
    }
  });
});
