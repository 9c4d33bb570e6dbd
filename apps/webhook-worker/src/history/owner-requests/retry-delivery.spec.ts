import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import type { ServerResponse } from 'node:http';
import { allHaveStatus, type DeliveryRow, orderCreated } from '../../test/webhook-worker.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';
import { withEndedDeliveries } from '../ended-deliveries.fixture.js';

const given = setUpWorker({ WEBHOOK_RETRY_SCHEDULE_MS: '0,50' }); // a failed delivery has two attempts

const respondWithStatus =
  (status: number) =>
  (response: ServerResponse): void =>
    void response.writeHead(status).end();
const makeDueAt = statement(
  'test.make-due-at',
  `UPDATE webhook_deliveries SET status = 'retrying', schedule_step = 1, next_attempt_at = $2, completed_at = NULL,
     failure_reason = NULL WHERE subscription_id = $1`,
);
const makeFailing = statement(
  'test.make-failing',
  'UPDATE webhook_subscriptions SET consecutive_failures = 5 WHERE id = $1',
);
const readScheduleStep = statement(
  'test.read-schedule-step',
  'SELECT schedule_step FROM webhook_deliveries WHERE subscription_id = $1',
);
async function makeDueInAnHour(id: string): Promise<Date> {
  const due = new Date(Date.now() + 3_600_000);
  await given.stores.database.run(makeDueAt, [parsePublicId('whk', id), due]);
  return due;
}
async function scheduleStepOf(id: string): Promise<number | undefined> {
  const row = await given.stores.database.row<{ schedule_step: number }>(readScheduleStep, [
    parsePublicId('whk', id),
  ]);
  return row?.schedule_step;
}

const withDeliveries = (count: number, status: 'succeeded' | 'failed') =>
  withEndedDeliveries(given, count, status);

/** Returns the only delivery, once `count` attempts have ended. */
async function afterAttempts(count: number): Promise<DeliveryRow | undefined> {
  const [row] = await given.deliveriesWhen(([only]) => only?.outcomes?.length === count);
  return row;
}

/** Requests a retry of the only delivery. Returns it as its owner sees it, before and after. */
async function retryOnly({ client, id }: Awaited<ReturnType<typeof withDeliveries>>) {
  const [listed] = (await client.get(`/${id}/deliveries`)).body.data;
  await client.post({}, `/${id}/deliveries/${listed.id}/retry`).expect(202);
  const read = async () => (await client.get(`/${id}/deliveries/${listed.id}`)).body;
  return { before: listed, read };
}

describe('a manual retry of a delivery', () => {
  it('sends a failed delivery at once, with the same id and bytes and the next attempt number', async () => {
    const { client, id } = await withDeliveries(1, 'failed');
    const delivery = (await client.get(`/${id}/deliveries`)).body.data[0].id;
    const { body } = await client.post({}, `/${id}/deliveries/${delivery}/retry`).expect(202);
    expect(body).toMatchObject({ id: delivery, status: 'pending', completed_at: null });
    await given.deliveriesWhen(allHaveStatus(1, 'succeeded'));
    const [first, , third] = given.receiver.deliveries;
    expect(third?.headers).toMatchObject({ 'x-service-delivery': delivery, 'x-service-attempt': '3' });
    expect(third?.rawBody.equals(first?.rawBody ?? Buffer.alloc(0))).toBe(true);
    const detail = (await client.get(`/${id}/deliveries/${delivery}`)).body;
    expect(detail.attempts[2]).toMatchObject({
      trigger: 'manual',
      response_body: 'thanks',
      response_headers: { 'x-request-id': 'r1' },
    });
    await client.post({}, `/${id}/deliveries/${delivery}/retry`).expect(202); // and may be repeated
    await given.receiver.waitFor(4);
  });

  it.each(['succeeded', 'failed'] as const)(
    'does not change the status and times of a delivery that had %s, if the attempt fails',
    async (status) => {
      const prepared = await withDeliveries(1, status);
      given.receiver.respondWith(respondWithStatus(500));
      const { before, read } = await retryOnly(prepared);
      await afterAttempts(status === 'failed' ? 3 : 2);
      const after = await read();
      expect(after).toMatchObject({
        ...before,
        attempt_count: before.attempt_count + 1,
        last_status_code: 500,
      });
      expect(after.attempts.at(-1)).toMatchObject({ trigger: 'manual', outcome: 'http_error' });
    },
  );

  it('leaves the schedule of an open delivery unchanged when the attempt fails', async () => {
    const prepared = await withDeliveries(1, 'failed');
    const due = await makeDueInAnHour(prepared.id);
    given.receiver.respondWith(respondWithStatus(500));
    const { read } = await retryOnly(prepared);
    await afterAttempts(3);
    expect(await read()).toMatchObject({ status: 'retrying', next_attempt_at: due.toISOString() });
    expect(await scheduleStepOf(prepared.id)).toBe(1);
  });

  it('leaves a held delivery held when the attempt fails', async () => {
    const { client, id } = await given.subscriber();
    await client.patch(id, { status: 'disabled' });
    await given.publish(orderCreated(client.creatorId));
    await given.reconcileUntil(allHaveStatus(1, 'held'));
    given.receiver.respondWith(respondWithStatus(500));
    const { before, read } = await retryOnly({ client, id });
    await afterAttempts(1);
    expect(await read()).toMatchObject({ ...before, attempt_count: 1, last_status_code: 500 });
  });

  it('restores the original state when it was requested twice before the attempt failed', async () => {
    const prepared = await withDeliveries(1, 'failed');
    const running = Promise.withResolvers<ServerResponse>();
    given.receiver.respondWith((response) => running.resolve(response));
    await given.publish(orderCreated(prepared.client.creatorId));
    const response = await running.promise;
    const failed = (await prepared.client.get(`/${prepared.id}/deliveries?status=failed`)).body.data[0];
    const retry = () => prepared.client.post({}, `/${prepared.id}/deliveries/${failed.id}/retry`).expect(202);
    // A failing receiver gets one attempt at a time, so the retry waits for the running one.
    await given.stores.database.run(makeFailing, [parsePublicId('whk', prepared.id)]);
    await retry();
    await retry();
    given.receiver.respondWith(respondWithStatus(500));
    response.writeHead(500).end();
    await given.deliveriesWhen((rows) => rows.some((row) => row.outcomes?.length === 3));
    const after = (await prepared.client.get(`/${prepared.id}/deliveries/${failed.id}`)).body;
    expect(after).toMatchObject({ status: 'failed', completed_at: failed.completed_at });
  });

  it('disables the subscription on a 410, and fails an open delivery as gone', async () => {
    const prepared = await withDeliveries(1, 'failed');
    await makeDueInAnHour(prepared.id);
    given.receiver.respondWith(respondWithStatus(410));
    const { read } = await retryOnly(prepared);
    await afterAttempts(3);
    expect(await read()).toMatchObject({ status: 'failed', failure_reason: 'gone' });
    expect((await prepared.client.get(`/${prepared.id}`)).body.status).toBe('disabled');
  });

  it('runs for a disabled subscription, and leaves it disabled', async () => {
    const { client, id } = await withDeliveries(1, 'failed');
    await client.patch(id, { status: 'disabled' });
    const delivery = (await client.get(`/${id}/deliveries`)).body.data[0].id;
    await client.post({}, `/${id}/deliveries/${delivery}/retry`).expect(202);
    await given.deliveriesWhen(allHaveStatus(1, 'succeeded'));
    expect((await client.get(`/${id}`)).body.status).toBe('disabled');
  });

  it('is rejected with 409 while an attempt is running', async () => {
    const { client, id } = await given.subscriber();
    given.receiver.respondWith(() => undefined);
    await given.publish(orderCreated(client.creatorId));
    await given.receiver.waitFor(1);
    const delivery = (await client.get(`/${id}/deliveries`)).body.data[0].id;
    const rejected = await client.post({}, `/${id}/deliveries/${delivery}/retry`).expect(409);
    expect(rejected.body.code).toBe('CONFLICT');
  });
});
