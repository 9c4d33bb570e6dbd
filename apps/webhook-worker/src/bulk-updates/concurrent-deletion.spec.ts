import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { untilLockWaits } from '@fulfilment/database/testing';
import { advisoryLocks } from '../advisory-locks.js';
import { haveStatuses, orderCreated } from '../test/webhook-worker.fixture.js';
import { setUpWorker } from '../test/worker-setup.fixture.js';

const given = setUpWorker();

// The worker skips the subscription while another transaction has this lock.
const lockBulkUpdates = statement(
  'test.lock-bulk-updates',
  `SELECT pg_advisory_xact_lock(${advisoryLocks.bulkUpdates}, hashtext($1))`,
);
// The state sync that the PATCH requested may be unfinished: then it becomes due now.
const insertSync = statement(
  'test.insert-sync',
  `INSERT INTO webhook_state_syncs (subscription_id) VALUES ($1)
   ON CONFLICT (subscription_id) DO UPDATE SET due_at = now()`,
);
const markDeleted = statement(
  'test.mark-deleted',
  'UPDATE webhook_subscriptions SET deleted_at = now() WHERE id = $1',
);
const requestSync = statement(
  'test.request-sync',
  'UPDATE webhook_state_syncs SET due_at = now() WHERE subscription_id = $1',
);

describe('held deliveries', () => {
  it('are cancelled when their subscription is deleted after a state sync has read it as disabled', async () => {
    const { database, broker } = given.stores;
    const { client, id } = await given.subscriber();
    await client.patch(id, { status: 'disabled' });
    await broker.publish(orderCreated(client.creatorId));
    await given.reconcileUntil(haveStatuses('held'));
    const uuid = parsePublicId('whk', id);
    await database.transaction(async (tx) => {
      await database.transaction(async (pause) => {
        await pause.run(lockBulkUpdates, [uuid]);
        await database.run(insertSync, [uuid]);
        await tx.run(markDeleted, [uuid]);
        expect(await tx.run(requestSync, [uuid])).toBe(1);
      });
      // The worker has read the subscription as disabled, and waits for this transaction.
      await untilLockWaits(database, { query: '%webhook_state_syncs%FOR UPDATE%' });
    });
    const [row] = await given.deliveriesWhen(haveStatuses('failed'));
    expect(row?.failure_reason).toBe('subscription_deleted');
  });
});
