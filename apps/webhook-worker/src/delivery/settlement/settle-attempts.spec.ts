import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { setUpWorker } from '../../test/worker-setup.fixture.js';
import { orderCreated } from '../../test/webhook-worker.fixture.js';
import { anAttempt } from '../attempt.fixture.js';
import type { LeasedDelivery } from '../leased-delivery.js';
import { SettleAttempts } from './settle-attempts.js';

const given = setUpWorker({ WEBHOOK_TIMEOUT_MS: '20000' });

const lease = statement(
  'test.lease-deliveries',
  `UPDATE webhook_deliveries SET status = 'in_flight', next_attempt_at = NULL, attempt_count = 1, attempt_started_at = now(),
     lease_token = gen_random_uuid(), lease_until = now() + interval '1 minute'
   WHERE subscription_id = $1 RETURNING id, day::text, lease_token AS token`,
);

describe('a batch of attempts', () => {
  it('disables a subscription whose receiver responded with 410, also if a success ended after it', async () => {
    const { client, id } = await given.subscriber();
    const subscriptionId = parsePublicId('whk', id) ?? '';
    given.receiver.respondWith(() => undefined); // the attempts of the worker stay open
    await given.publish(orderCreated(client.creatorId), orderCreated(client.creatorId));
    await given.deliveriesWhen((rows) => rows.length === 2 && rows[0]?.status === 'in_flight');
    const { delivery, exchange } = anAttempt(subscriptionId);
    const rows = await given.stores.database.rows<Pick<LeasedDelivery, 'id' | 'day' | 'token'>>(lease, [
      subscriptionId,
    ]);
    const [gone, succeeded] = rows.map((row) => ({
      delivery: { ...delivery, ...row, url: given.receiver.url },
      exchange,
    }));
    if (gone === undefined || succeeded === undefined) throw new Error('There are no two deliveries.');

    await given.worker.app
      .get(SettleAttempts)
      .run([
        { ...gone, exchange: { ...exchange, outcome: 'http_error' as const, statusCode: 410 } },
        succeeded,
      ]);

    expect((await client.get(`/${id}`)).body).toMatchObject({ status: 'disabled' });
    expect(given.worker.logged('A webhook subscription was disabled.')).toContainEqual(
      expect.objectContaining({ subscription_id: id, reason: 'gone' }),
    );
  });
});
