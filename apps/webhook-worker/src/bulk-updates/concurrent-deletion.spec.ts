import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually, webhookReceiver } from '@fulfilment/testing';
import {
  aClient,
  deliveriesWhen,
  orderCreated,
  startWorker,
  status,
  webhookStores,
} from '../webhook-worker.fixture.js';

const requestSoon = statement(
  'test.request-soon',
  `INSERT INTO webhook_state_syncs (subscription_id, due_at) VALUES ($1, now() + interval '1 second')`,
);
const remove = statement('test.remove', 'UPDATE webhook_subscriptions SET deleted_at = now() WHERE id = $1');
const requestNow = statement(
  'test.request-now',
  'UPDATE webhook_state_syncs SET due_at = now() WHERE subscription_id = $1 RETURNING subscription_id',
);
const waitsForUs = statement(
  'test.waits-for-us',
  `SELECT FROM pg_stat_activity
   WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%webhook_state_syncs%FOR UPDATE%'`,
);

describe('deliveries that are being held', () => {
  it('are cancelled when their subscription is deleted concurrently', async () => {
    const stores = await webhookStores();
    const worker = await startWorker(stores);
    const receiver = await webhookReceiver();
    try {
      const client = await aClient(stores, worker);
      const id = await client.subscribe(receiver.url);
      await client.patch(id, { status: 'disabled' });
      await stores.broker.publish(orderCreated(client.creatorId));
      await deliveriesWhen(stores, status('held'));
      const uuid = parsePublicId('whk', id);
      await stores.database.run(requestSoon, [uuid]);
      await stores.database.transaction(async (tx) => {
        await tx.run(remove, [uuid]);
        expect(await tx.run(requestNow, [uuid])).toBe(1);
        await eventually(async () =>
          (await stores.database.rows(waitsForUs)).length > 0 ? true : undefined,
        );
      });
      const [row] = await deliveriesWhen(stores, status('failed'));
      expect(row?.failure_reason).toBe('subscription_deleted');
    } finally {
      await worker.stop();
      await receiver.stop();
      await stores.stop();
    }
  });
});
