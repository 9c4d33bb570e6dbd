import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { createLogger } from '@fulfilment/runtime';
import { Cleanup } from '@fulfilment/service-host';
import { scratchDatabase } from '@fulfilment/database/testing';
import { eventually } from '@fulfilment/testing';
import { cleanupJobs } from './cleanup-jobs.js';
import { migrations } from './migrations/index.js';

const insertKeys = statement(
  'test.insert-keys',
  `INSERT INTO idempotency_keys (creator_id, client_id, key, fingerprint, response, created_at)
   SELECT $1, 'client', $2 || n, '', '{}', $3 FROM generate_series(1, $4) AS n`,
);
const keptKeys = statement('test.kept-keys', 'SELECT key FROM idempotency_keys');

describe('the clean-up of creator-api', () => {
  it('deletes all idempotency keys that are 24 hours old, in several batches, and no others', async () => {
    const scratch = await scratchDatabase(migrations);
    const { database } = scratch;
    const now = new Date();
    const dayAgo = new Date(now.getTime() - 24 * 3_600_000);
    await database.run(insertKeys, [uuidv7(), 'old-', dayAgo, 1_200]); // a batch has 1000
    await database.run(insertKeys, [uuidv7(), 'new-', new Date(dayAgo.getTime() + 1), 1]);
    const logger = createLogger('test', 'silent');
    const jobs = cleanupJobs(database, { TRACK_UPLOAD_RETENTION_DAYS: 0 }, () => now);
    const cleanup = new Cleanup(jobs, logger);
    try {
      cleanup.start();
      await eventually(async () => (await database.rows(keptKeys)).length === 1);
      expect(await database.rows(keptKeys)).toEqual([{ key: 'new-1' }]);
    } finally {
      await cleanup.stop();
      await scratch.drop();
    }
  });
});
