import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { cleanupJobs } from './cleanup-jobs.js';
import { migrations } from './migrations/index.js';
import { IdempotencyKeys } from './orders/idempotency-keys.js';

const insertKey = statement(
  'test.insert-key',
  `INSERT INTO idempotency_keys (creator_id, client_id, key, fingerprint, claimed_by, created_at, lease_until, order_id, response)
   VALUES ($1, 'client', $2, '', $1, now() - $3::interval, now() + $4::interval, $5, $6)`,
);
const keptKeys = statement('test.kept-keys', 'SELECT key FROM idempotency_keys ORDER BY key');

describe('the clean-up of store-api', () => {
  let scratch: ScratchDatabase;
  beforeAll(async () => {
    scratch = await scratchDatabase(migrations);
  });
  afterAll(() => scratch.drop());

  const deleteBatchOf = (name: string): Promise<number> | undefined =>
    cleanupJobs(scratch.database, new IdempotencyKeys(scratch.database), { ADDRESS_RETENTION_DAYS: 0 })
      .find((job) => job.name === name)
      ?.deleteBatch();

  it('deletes idempotency keys after 24 hours, except those whose order has no outcome yet', async () => {
    const [old, young] = ['24 hours 1 minute', '23 hours 59 minutes'];
    const [ended, running] = ['-1 minute', '1 minute']; // until the end of the lease
    const keys = [
      ['with a response', old, ended, uuidv7(), '{}'],
      ['abandoned', old, ended, null, null],
      ['kept: in progress', old, running, null, null],
      ['kept: open order', old, ended, uuidv7(), null],
      ['kept: young', young, ended, uuidv7(), '{}'],
    ];
    for (const key of keys) await scratch.database.run(insertKey, [uuidv7(), ...key]);
    expect(await deleteBatchOf('idempotency keys')).toBe(2);
    expect(await scratch.database.rows(keptKeys)).toEqual([
      { key: 'kept: in progress' },
      { key: 'kept: open order' },
      { key: 'kept: young' },
    ]);
  });
});
