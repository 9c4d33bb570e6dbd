import { uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { Outbox } from '@fulfilment/messaging';
import { createLogger } from '@fulfilment/runtime';
import { scratchDatabase, type ScratchDatabase } from '@fulfilment/database/testing';
import { cleanupJobs } from './cleanup-jobs.js';
import { DeferredEvents } from './fulfilment/deferred-events.js';
import { migrations } from './migrations/index.js';
import { IdempotencyKeys } from './orders/idempotency-keys.js';

const insertKey = statement(
  'test.insert-key',
  `INSERT INTO idempotency_keys (creator_id, client_id, key, fingerprint, claimed_by, created_at, lease_until, order_id, response)
   VALUES ($1, 'client', $2, '', $1, now() - $3::interval, now() + $4::interval, $5, $6)`,
);
const keptKeys = statement('test.kept-keys', 'SELECT key FROM idempotency_keys ORDER BY key');
const insertRejectedEvents = statement(
  'test.insert-rejected-events',
  `WITH placed AS (
     INSERT INTO orders (id, creator_id, client_id, status, platform, store_id, external_order_id, currency, total_amount,
       item_count, shipping_rate_id, shipping_amount, shipping_address, country_code, billing_method, payment_status, charge_amount)
     VALUES ($1, $1, 'client', 'processing', 'api', 'store', 'external', 'GBP', 1, 1, 'rate', 1, '{}', 'GB', 'card', 'paid', 1)
     RETURNING id
   ), held AS (
     INSERT INTO deferred_events (message_id, order_id, occurred_at, body, retry_at)
     SELECT gen_random_uuid(), id, now(), '{}', 'infinity' FROM placed CROSS JOIN generate_series(1, $2)
     RETURNING message_id
   )
   INSERT INTO inbox (message_id, queue, outcome) SELECT message_id, 'store-api.fulfilment', 'refused' FROM held`,
);
const countDeferredEvents = statement(
  'test.deferred-events',
  'SELECT count(*) AS events FROM deferred_events',
);

describe('the clean-up of store-api', () => {
  let stores: ScratchDatabase;
  beforeAll(async () => {
    stores = await scratchDatabase(migrations);
  });
  afterAll(() => stores.drop());

  const deleteBatchOf = (name: string): Promise<number> | undefined =>
    cleanupJobs(stores.database, new IdempotencyKeys(stores.database), { ADDRESS_RETENTION_DAYS: 0 })
      .find((job) => job.name === name)
      ?.deleteBatch();

  it('deletes idempotency keys after 24 hours, except those whose order has no outcome yet', async () => {
    const [old, young] = ['24 hours 1 minute', '23 hours 59 minutes'];
    const [over, running] = ['-1 minute', '1 minute'];
    const keys = [
      ['with a response', old, over, uuidv7(), '{}'],
      ['abandoned', old, over, null, null],
      ['kept: in progress', old, running, null, null],
      ['kept: open order', old, over, uuidv7(), null],
      ['kept: young', young, over, uuidv7(), '{}'],
    ];
    for (const key of keys) await stores.database.run(insertKey, [uuidv7(), ...key]);
    expect(await deleteBatchOf('idempotency keys')).toBe(2);
    expect(await stores.database.rows(keptKeys)).toEqual([
      { key: 'kept: in progress' },
      { key: 'kept: open order' },
      { key: 'kept: young' },
    ]);
  });

  it('deletes out-of-order events that were rejected, 50 at a time', async () => {
    await stores.database.run(insertRejectedEvents, [uuidv7(), 102]);
    const deferred = new DeferredEvents(
      stores.database,
      new Outbox(),
      { REPORT_HELD_MS: 86_400_000 },
      createLogger('test', 'silent'),
    );
    for (const events of [52, 2, 0]) {
      expect(await deferred.round()).toBe(events > 0);
      expect(await stores.database.row(countDeferredEvents)).toEqual({ events });
    }
  });
});
