import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { untilLockWaits } from '@fulfilment/database/testing';
import { lockSeeds } from '../../advisory-locks.js';
import { BulkUpdates } from '../../bulk-updates/bulk-updates.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';
import { orderCreated } from '../../test/webhook-worker.fixture.js';

const given = setUpWorker();

/** Stops the bulk updates: the tests read the recoveries that were requested. */
beforeAll(() => given.worker.app.get(BulkUpdates).stop());

const since = '2020-01-01T00:00:00Z';
const serialise = statement(
  'test.serialise',
  `SELECT pg_advisory_xact_lock(hashtextextended($1::text, ${lockSeeds.recoveries}))`,
);
// The newest delivery is held, the others have failed. Ascending ids make the insert faster.
const writeRecoverable = statement(
  'test.write-recoverable',
  `INSERT INTO webhook_deliveries (day, id, subscription_id, event_id, event, api_version, status, failure_reason, created_at, completed_at)
   SELECT current_date, lpad(to_hex(n), 32, '0')::uuid, $1, gen_random_uuid(), 'order.created', 'v', CASE n WHEN 0 THEN 'held' ELSE 'failed' END,
     CASE WHEN n > 0 THEN 'exhausted' END, now() - n * interval '1 millisecond', CASE WHEN n > 0 THEN now() END
   FROM generate_series(0, $2::int - 1) AS n`,
);
const countRecoveries = statement(
  'test.count-recoveries',
  'SELECT count(*) FROM webhook_recoveries WHERE subscription_id = $1 AND since = $2',
);

async function aSubscription() {
  const { client, id } = await given.subscriber();
  return {
    client,
    recover: () => client.post({ since }, `/${id}/recover`),
    uuid: parsePublicId('whk', id) ?? '',
  };
}

describe('recoveries of one subscription', () => {
  it('are limited to six a minute, separately from other subscriptions', async () => {
    const [one, other] = [await aSubscription(), await aSubscription()];
    for (let count = 0; count < 6; count += 1) await one.recover().expect(202);
    const { headers } = await one.recover().expect(429);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    await other.recover().expect(202);
  });

  it('do not lock the subscription while they count, so that its deliveries are settled concurrently', async () => {
    const { client, recover, uuid } = await aSubscription();
    const recovering = await given.stores.database.transaction(async (tx) => {
      await tx.rows(serialise, [uuid]); // simulates a slow count
      const recovery = recover().then((response) => response); // `then` sends the request
      await untilLockWaits(given.stores.database, { query: '%advisory%' });
      await given.publish(orderCreated(client.creatorId));
      await given.deliveriesWhen((rows) => rows[0]?.status === 'succeeded');
      return { recovery }; // in an object: the transaction would await a promise that waits for its own lock
    });
    expect((await recovering.recovery).status).toBe(202);
  });

  it('count the newest 100,000 failed deliveries and the held ones, and begin even if an earlier one has all of these', async () => {
    const { recover, uuid } = await aSubscription();
    await given.stores.database.run(writeRecoverable, [uuid, 1 + 100_001]);
    expect((await recover().expect(202)).body.matched).toBe(100_001);
    expect((await recover().expect(202)).body.matched).toBe(0);
    expect(await given.stores.database.row(countRecoveries, [uuid, since])).toEqual({ count: 2 });
  });
});
