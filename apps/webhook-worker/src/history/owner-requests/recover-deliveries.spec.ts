import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { untilLockWaits } from '@fulfilment/database/testing';
import { lockSeeds } from '../../advisory-locks.js';
import { BulkUpdates } from '../../bulk-updates/bulk-updates.js';
import { writeHistory } from '../../test/history.fixture.js';
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
const holdOldest = statement(
  'test.hold-oldest',
  `UPDATE webhook_deliveries SET status = 'held', failure_reason = NULL, completed_at = NULL
   WHERE subscription_id = $1 AND created_at = (SELECT min(created_at) FROM webhook_deliveries WHERE subscription_id = $1)`,
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
    await writeHistory(given.stores.database, uuid, { count: 100_002, failedEvery: 1 });
    await given.stores.database.run(holdOldest, [uuid]);
    expect((await recover().expect(202)).body.matched).toBe(100_001);
    expect((await recover().expect(202)).body.matched).toBe(0);
    expect(await given.stores.database.row(countRecoveries, [uuid, since])).toEqual({ count: 2 });
  });
});
