import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { setUpWorker } from '../../test/worker-setup.fixture.js';
import { type DeliveryRow, orderCreated } from '../../test/webhook-worker.fixture.js';

const given = setUpWorker();

const lock = statement(
  'test.lock-subscription',
  'SELECT FROM webhook_subscriptions WHERE id = $1 FOR UPDATE',
);
const markDeleted = statement(
  'test.delete-subscription',
  'UPDATE webhook_subscriptions SET deleted_at = now() WHERE id = $1',
);

const otherTenants = 12;

/** A subscription of a tenant of its own. */
async function aTenant() {
  const { client, id } = await given.subscriber();
  return { uuid: parsePublicId('whk', id) ?? '', event: () => orderCreated(client.creatorId) };
}

/** Condition: `count` deliveries have succeeded, not counting those of the subscription `except`. */
const succeeded =
  (count: number, except?: string) =>
  (rows: readonly DeliveryRow[]): boolean =>
    rows.filter((row) => row.status === 'succeeded' && row.subscription_id !== except).length === count;

describe('a worker, while the row of a subscription is locked', () => {
  it('settles the attempts of all other tenants, and that of the subscription after the lock ends', async () => {
    const locked = await aTenant();
    const others = await Promise.all(Array.from({ length: otherTenants }, aTenant));
    await given.stores.database.transaction(async (tx) => {
      await tx.rows(lock, [locked.uuid]);
      await given.publish(locked.event());
      await given.receiver.waitFor(1);
      await given.publish(...others.map(({ event }) => event()));
      const rows = await given.deliveriesWhen(succeeded(otherTenants, locked.uuid));
      expect(rows.find((row) => row.subscription_id === locked.uuid)?.status).toBe('in_flight');
    });
    const rows = await given.deliveriesWhen(succeeded(otherTenants + 1));
    expect(rows.map((row) => row.outcomes)).toEqual(rows.map(() => ['succeeded']));
    expect(given.receiver.deliveries).toHaveLength(otherTenants + 1);
  });

  it('settles the attempt as one of a deleted subscription if the lock was for its deletion', async () => {
    const locked = await aTenant();
    given.receiver.respondWith((response) => response.writeHead(500).end());
    await given.stores.database.transaction(async (tx) => {
      await tx.rows(lock, [locked.uuid]);
      await given.publish(locked.event());
      await given.receiver.waitFor(1);
      await tx.run(markDeleted, [locked.uuid]);
    });
    const [row] = await given.deliveriesWhen((rows) => rows[0]?.status === 'failed');
    expect(row?.failure_reason).toBe('subscription_deleted');
    expect(given.receiver.deliveries).toHaveLength(1);
  });
});
