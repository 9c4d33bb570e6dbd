import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { eventBody } from '../test/due-deliveries.fixture.js';
import { startWorker, type Worker } from '../test/webhook-worker.fixture.js';
import { setUpWorker } from '../test/worker-setup.fixture.js';
import { batchSize } from './batches.js';
import { BulkUpdateRequests } from '../subscriptions/bulk-update-requests.js';

/** More than one batch (1,000), and more than the maximum of held deliveries (10,000). */
const manyDeliveries = 12_500;
const longAgo = '2020-01-01T00:00:00Z';

const given = setUpWorker();

// Deliveries that are `retrying` are due in a day, so that they are not sent during a test.
const writeDeliveries = statement(
  'test.write-deliveries',
  `WITH event AS (
     INSERT INTO webhook_events (day, id, api_version, event, creator_id, occurred_at, body)
     VALUES (current_date, gen_random_uuid(), 'v', 'order.created', gen_random_uuid(), now(), convert_to(:body, 'UTF8')) RETURNING day, id
   )
   INSERT INTO webhook_deliveries (day, id, subscription_id, event_id, event, api_version, status, failure_reason, created_at,
     next_attempt_at, completed_at)
   SELECT event.day, gen_random_uuid(), :subscription_id, event.id, 'order.created', 'v', :status, CASE WHEN :status = 'failed' THEN 'exhausted' END,
     now() - :hours_ago * interval '1 hour' - n * interval '1 millisecond',
     CASE WHEN :status = 'retrying' THEN now() + interval '1 day' END, CASE WHEN :status = 'failed' THEN now() END
   FROM event, generate_series(1, :count) AS n`,
);
interface AddedDeliveries {
  readonly count: number;
  readonly status: 'held' | 'failed' | 'retrying';
  readonly hoursAgo?: number;
}
function addDeliveries(
  uuid: string | undefined,
  { count, status, hoursAgo = 1 }: AddedDeliveries,
): Promise<number> {
  return given.stores.database.run(writeDeliveries, {
    subscription_id: uuid,
    count,
    status,
    hours_ago: hoursAgo,
    body: eventBody,
  });
}
const countByStatus = statement(
  'test.count-by-status',
  `SELECT status, failure_reason, count(*) AS count FROM webhook_deliveries WHERE subscription_id = $1 GROUP BY 1, 2`,
);
const countBulkUpdates = statement(
  'test.count-bulk-updates',
  'SELECT (SELECT count(*) FROM webhook_state_syncs) + (SELECT count(*) FROM webhook_recoveries) AS count',
);

async function aSubscriptionWithDeliveries(added: AddedDeliveries) {
  const { client, id } = await given.subscriber();
  const uuid = parsePublicId('whk', id);
  await addDeliveries(uuid, added);
  return { client, id, uuid };
}

/** Resolves when a subscription has the expected number of deliveries per status or failure reason. */
async function untilCounts(uuid: string | undefined, expected: Record<string, number>): Promise<void> {
  let last: Record<string, number> = {};
  await eventually(
    async () => {
      const rows = await given.stores.database.rows<{
        status: string;
        failure_reason: string | null;
        count: number;
      }>(countByStatus, [uuid]);
      last = Object.fromEntries(rows.map((row) => [row.failure_reason ?? row.status, row.count]));
      return Object.entries(expected).every(([status, count]) => (last[status] ?? 0) === count);
    },
    { timeoutMs: 120_000, describe: () => JSON.stringify(last) },
  );
}

const lockDeliveries = statement(
  'test.lock-deliveries',
  'SELECT FROM webhook_deliveries WHERE subscription_id = $1 FOR UPDATE',
);

/**
 * Sends requests while this transaction locks the deliveries: the requests must not wait for the locks. If
 * they do, PostgreSQL ends this idle transaction, whose commit then fails.
 */
function sendWhileDeliveriesAreLocked<Result>(
  uuid: string | undefined,
  send: () => PromiseLike<Result>,
): Promise<Result> {
  return given.stores.database.transaction(async (tx) => {
    await tx.rows(lockDeliveries, [uuid]);
    return await send();
  });
}

describe('very many deliveries', () => {
  it('are held when their subscription is disabled, up to the newest 10 000', async () => {
    const { client, id, uuid } = await aSubscriptionWithDeliveries({
      count: manyDeliveries,
      status: 'retrying',
    });
    await sendWhileDeliveriesAreLocked(uuid, () => client.patch(id, { status: 'disabled' }).expect(200));
    await untilCounts(uuid, { held: 10_000, expired: manyDeliveries - 10_000, retrying: 0 });
  }, 300_000);

  it('are cancelled when their subscription is deleted', async () => {
    const { client, id, uuid } = await aSubscriptionWithDeliveries({
      count: manyDeliveries,
      status: 'retrying',
    });
    await addDeliveries(uuid, { count: manyDeliveries, status: 'held' });
    await sendWhileDeliveriesAreLocked(uuid, () => client.delete(id).expect(204));
    await untilCounts(uuid, { subscription_deleted: 2 * manyDeliveries });
  }, 300_000);

  it('are recovered as fast as the receiver takes them, and each is counted in one recovery only', async () => {
    const { client, id, uuid } = await aSubscriptionWithDeliveries({
      count: manyDeliveries,
      status: 'failed',
    });
    // With this Retry-After, no delivery is sent twice during the test.
    given.receiver.respondWith((response) => response.writeHead(500, { 'retry-after': '86400' }).end());
    const recover = () => client.post({ since: longAgo }, `/${id}/recover`).expect(202);
    const responses = await sendWhileDeliveriesAreLocked(uuid, async () => [
      await recover(),
      await recover(),
      await recover(),
    ]);
    expect(responses.map(({ body }) => body.matched)).toEqual([manyDeliveries, 0, 0]);
    await given.receiver.waitFor(1);
    const rows = await given.stores.database.rows<{ status: string; count: number }>(countByStatus, [uuid]);
    const failed = rows.find((row) => row.status === 'failed')?.count ?? 0;
    const recovered = manyDeliveries - failed;
    expect(recovered).toBeGreaterThan(0);
    // A batch of failed deliveries (500) waits while 500 are due, so most of the 25 batches still wait.
    expect(recovered).toBeLessThanOrEqual(2 * batchSize);
    await client.delete(id).expect(204);
    await eventually(
      async () => (await given.stores.database.row<{ count: number }>(countBulkUpdates))?.count === 0,
    );
  }, 300_000);
});

describe('held deliveries', () => {
  it('younger than 72 hours are released on re-enabling; older ones wait for a recovery', async () => {
    const { client, id, uuid } = await aSubscriptionWithDeliveries({
      count: 3,
      status: 'held',
      hoursAgo: 73,
    });
    await client.patch(id, { status: 'disabled' }).expect(200);
    await addDeliveries(uuid, { count: 2, status: 'held', hoursAgo: 71 });
    await client.patch(id, { status: 'active' }).expect(200);
    await untilCounts(uuid, { succeeded: 2, held: 3 });
    const { body } = await client.post({ since: longAgo }, `/${id}/recover`).expect(202);
    expect(body.matched).toBe(3);
    await untilCounts(uuid, { succeeded: 5, held: 0 });
  });

  it('expire after seven days', async () => {
    const { client, id, uuid } = await aSubscriptionWithDeliveries({
      count: 2,
      status: 'held',
      hoursAgo: 7 * 24 + 1,
    });
    await client.patch(id, { status: 'disabled' }).expect(200);
    await addDeliveries(uuid, { count: 3, status: 'held', hoursAgo: 7 * 24 - 1 });
    await untilCounts(uuid, { expired: 2, held: 3 });
  });
});

// Fails each change of deliveries of the subscriptions in a table, as a statement timeout would.
const failChanges = `
  CREATE TABLE failing_subscriptions (id uuid);
  CREATE FUNCTION fail_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (SELECT FROM failing_subscriptions WHERE id = old.subscription_id) THEN
      RAISE 'The test fails this change.';
    END IF;
    RETURN new;
  END $$;
  CREATE TRIGGER fail_changes BEFORE UPDATE ON webhook_deliveries FOR EACH ROW EXECUTE FUNCTION fail_change()`;
const beginFailing = statement('test.begin-failing', 'INSERT INTO failing_subscriptions VALUES ($1)');
const endFailing = statement('test.end-failing', 'DELETE FROM failing_subscriptions');
const isSyncPostponed = statement(
  'test.is-sync-postponed',
  'SELECT FROM webhook_state_syncs WHERE subscription_id = $1 AND due_at > now()',
);

describe('a bulk update that fails', () => {
  beforeAll(async () => {
    const { dataSource } = given.stores;
    // Repeated, since it may be the victim of a deadlock with the worker's statements.
    await eventually(() =>
      dataSource.query(failChanges).then(
        () => true,
        () => false,
      ),
    );
  });

  it('delays neither recoveries nor the expiry of held deliveries, and is repeated later', async () => {
    const failing = await aSubscriptionWithDeliveries({ count: 1, status: 'retrying' });
    const other = await aSubscriptionWithDeliveries({ count: 1, status: 'failed' });
    await given.stores.database.run(beginFailing, [failing.uuid]);
    await failing.client.patch(failing.id, { status: 'disabled' }).expect(200);
    const isPostponed = async () =>
      (await given.stores.database.row(isSyncPostponed, [failing.uuid])) !== undefined;
    await eventually(isPostponed);
    const recovery = { since: longAgo, statuses: ['failed'] };
    await other.client.post(recovery, `/${other.id}/recover`).expect(202);
    // Added after the recovery, which would send it if it had already expired.
    await addDeliveries(other.uuid, { count: 1, status: 'held', hoursAgo: 7 * 24 + 1 });
    await untilCounts(other.uuid, { succeeded: 1, expired: 1 });
    await given.stores.database.run(endFailing);
    await untilCounts(failing.uuid, { held: 1 });
  });
});

const copyDisabled = statement(
  'test.copy-disabled',
  `INSERT INTO webhook_subscriptions
   SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), 'status', 'disabled'))).*
   FROM webhook_subscriptions s, generate_series(1, $2) WHERE s.id = $1 RETURNING id`,
);
const countHeld = statement(
  'test.count-held',
  "SELECT count(*) AS count FROM webhook_deliveries WHERE subscription_id = ANY($1) AND status = 'held'",
);

describe('several replicas', () => {
  let second: Worker;
  beforeAll(async () => {
    second = await startWorker(given.stores);
  });
  afterAll(() => second.stop());

  it('update the deliveries of a subscription while one replica is blocked by another subscription', async () => {
    const [locked, other] = [
      await aSubscriptionWithDeliveries({ count: 1, status: 'retrying' }),
      await aSubscriptionWithDeliveries({ count: 1, status: 'retrying' }),
    ];
    const open = await given.stores.database.begin();
    try {
      await open.tx.rows(lockDeliveries, [locked.uuid]);
      await locked.client.delete(locked.id).expect(204);
      await other.client.delete(other.id).expect(204);
      await untilCounts(other.uuid, { subscription_deleted: 1 });
    } finally {
      await open.rollback();
    }
    await untilCounts(locked.uuid, { subscription_deleted: 1 });
  });

  it('update the deliveries of more subscriptions than a replica reads at once', async () => {
    const { uuid } = await aSubscriptionWithDeliveries({ count: 0, status: 'retrying' });
    const subscriptionCount = 250; // three pages of 100
    const copies = await given.stores.database.rows<{ id: string }>(copyDisabled, [uuid, subscriptionCount]);
    const ids = copies.map(({ id }) => id);
    await Promise.all(ids.map((id) => addDeliveries(id, { count: 1, status: 'retrying' })));
    await given.stores.database.transaction((tx) => new BulkUpdateRequests().requestStateSync(tx, ids));
    await eventually(
      async () =>
        (await given.stores.database.row<{ count: number }>(countHeld, [ids]))?.count === subscriptionCount,
    );
    await eventually(
      async () => (await given.stores.database.row<{ count: number }>(countBulkUpdates))?.count === 0,
    );
  });
});
