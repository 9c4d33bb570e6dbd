import { jest } from '@jest/globals';
import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { setUpWorker } from '../../test/worker-setup.fixture.js';
import { orderCreated } from '../../test/webhook-worker.fixture.js';
import { DispatchQueue } from '../../dispatch-queue/dispatch-queue.js';
import { anAttempt } from '../attempt.fixture.js';
import type { LeasedDelivery } from '../leased-delivery.js';
import { type Attempt, SettleAttempts } from './settle-attempts.js';

const given = setUpWorker({ WEBHOOK_TIMEOUT_MS: '20000' });

const lease = statement(
  'test.lease-deliveries',
  `UPDATE webhook_deliveries SET status = 'in_flight', next_attempt_at = NULL, attempt_count = 1, attempt_started_at = now(),
     lease_token = gen_random_uuid(), lease_until = now() + interval '1 minute'
   WHERE subscription_id = $1 RETURNING id, day::text, lease_token AS token`,
);

const recordFailures = statement(
  'test.record-failures',
  'UPDATE webhook_subscriptions SET consecutive_failures = $2 WHERE id = $1',
);

const failDisabling = statement(
  'test.fail-disabling',
  `DO $do$ BEGIN
     CREATE FUNCTION fail_disabling() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE disk_full; END';
     CREATE TRIGGER fail_disabling BEFORE UPDATE ON webhook_subscriptions FOR EACH ROW
     WHEN (NEW.status = 'disabled') EXECUTE FUNCTION fail_disabling();
   END $do$`,
);
const restoreDisabling = statement('test.restore-disabling', 'DROP FUNCTION fail_disabling CASCADE');

/** Creates a subscription with two leased deliveries. Returns attempts of them that succeeded. */
async function withTwoAttempts() {
  const { client, id } = await given.subscriber();
  const subscriptionId = parsePublicId('whk', id) ?? '';
  given.receiver.respondWith(() => undefined); // the attempts of the worker stay open
  await given.publish(orderCreated(client.creatorId), orderCreated(client.creatorId));
  await given.deliveriesWhen((rows) => rows.length === 2 && rows[0]?.status === 'in_flight');
  const rows = await given.stores.database.rows<Pick<LeasedDelivery, 'id' | 'day' | 'token'>>(lease, [
    subscriptionId,
  ]);
  const { delivery, exchange } = anAttempt(subscriptionId);
  const [first, second] = rows.map((row) => ({
    delivery: { ...delivery, ...row, url: given.receiver.url },
    exchange,
  }));
  if (first === undefined || second === undefined) throw new Error('There are no two deliveries.');
  return { client, id, subscriptionId, first, second };
}

const failedWith = (attempt: Attempt, statusCode: number): Attempt => ({
  ...attempt,
  exchange: { ...attempt.exchange, outcome: 'http_error', statusCode },
});

describe('a batch of attempts', () => {
  it('disables a subscription whose receiver responded with 410, even if a later attempt succeeded', async () => {
    const { client, id, first, second } = await withTwoAttempts();
    await given.worker.app.get(SettleAttempts).run([failedWith(first, 410), second]);
    expect((await client.get(`/${id}`)).body).toMatchObject({ status: 'disabled' });
    expect(given.worker.logged('A webhook subscription was disabled.')).toContainEqual(
      expect.objectContaining({ subscription_id: id, reason: 'gone' }),
    );
  });

  it('schedules retries in the slow lane if its failures make the receiver count as failing', async () => {
    const { subscriptionId, first, second } = await withTwoAttempts();
    await given.stores.database.run(recordFailures, [subscriptionId, 1]); // the third one makes it failing
    const schedule = jest.spyOn(given.worker.app.get(DispatchQueue), 'scheduleAfterCommit');
    await given.worker.app.get(SettleAttempts).run([failedWith(first, 500), failedWith(second, 500)]);
    const lanes = schedule.mock.lastCall?.[1].map(({ lane }) => lane);
    expect(lanes).toEqual(['slow', 'slow']);
  });

  it('rejects with DependencyUnavailable if PostgreSQL has no disk space to disable a subscription', async () => {
    const { first } = await withTwoAttempts();
    await given.stores.database.run(failDisabling);
    try {
      const settling = given.worker.app.get(SettleAttempts).run([failedWith(first, 410)]);
      await expect(settling).rejects.toBeInstanceOf(DependencyUnavailable);
    } finally {
      await given.stores.database.run(restoreDisabling);
    }
  });
});
