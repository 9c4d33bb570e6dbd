import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { cleanupJobs } from './cleanup-jobs.js';
import { setUpDatabase } from './test/scratch.fixture.js';

const insertKey = statement(
  'test.insert-key',
  `INSERT INTO idempotency_keys (creator_id, client_id, key, fingerprint, claimed_by, created_at, lease_until, order_id, response)
   VALUES (gen_random_uuid(), 'client', :key, '', gen_random_uuid(), now() - :age::interval, now() + :leaseLeft::interval, :orderId, :response)`,
);
const keptKeys = statement('test.kept-keys', 'SELECT key FROM idempotency_keys ORDER BY key');

describe('the clean-up of store-api', () => {
  const scratch = setUpDatabase();

  const deleteBatchOf = (name: string): Promise<number> | undefined =>
    cleanupJobs(scratch.database, { ADDRESS_RETENTION_DAYS: 0 })
      .find((job) => job.name === name)
      ?.deleteBatch();

  it('deletes idempotency keys after 24 hours, except those in progress and those of open orders', async () => {
    const old = { age: '24 hours 1 minute', leaseLeft: '-1 minute', orderId: null, response: null };
    const keys = [
      { ...old, key: 'with a response', orderId: uuidv7(), response: '{}' },
      { ...old, key: 'abandoned' },
      { ...old, key: 'kept: in progress', leaseLeft: '1 minute' },
      { ...old, key: 'kept: open order', orderId: uuidv7() },
      { ...old, key: 'kept: young', age: '23 hours 59 minutes', orderId: uuidv7(), response: '{}' },
    ];
    for (const key of keys) await scratch.database.run(insertKey, key);
    expect(await deleteBatchOf('idempotency keys')).toBe(2);
    expect(await scratch.database.rows(keptKeys)).toEqual([
      { key: 'kept: in progress' },
      { key: 'kept: open order' },
      { key: 'kept: young' },
    ]);
  });
});
