import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { webhookReceiver } from '@fulfilment/testing';
import type { ServerResponse } from 'node:http';
import { allHaveStatus, haveStatuses, orderCreated, ordersCreated } from '../test/webhook-worker.fixture.js';
import { setUpWorker } from '../test/worker-setup.fixture.js';
import { SecretBox } from '@fulfilment/runtime';

const given = setUpWorker({ WEBHOOK_RETRY_SCHEDULE_MS: '0,50' });

const longAgo = '2020-01-01T00:00:00Z';
const readSecrets = statement(
  'test.read-secrets',
  'SELECT secret, previous_secret FROM webhook_subscriptions WHERE id = $1',
);
const concurrently = <Result>(
  count: number,
  work: (index: number) => PromiseLike<Result>,
): Promise<Result[]> => Promise.all(Array.from({ length: count }, (_, index) => work(index)));

/** Creates a subscription with a running attempt, whose response the test sends. */
async function withRunningAttempt() {
  const { client, id } = await given.subscriber();
  const waiting: ServerResponse[] = [];
  given.receiver.respondWith((response) => void waiting.push(response));
  await given.publish(orderCreated(client.creatorId));
  await given.receiver.waitFor(1);
  given.receiver.respondWith((response) => response.writeHead(204).end());
  return { client, id, respond: (status: number) => void waiting[0]?.writeHead(status).end() };
}

describe('concurrent requests', () => {
  it('send at most ten test events in a minute', async () => {
    const { client, id } = await given.subscriber();
    const responses = await concurrently(30, () => client.post({}, `/${id}/test`));
    expect(responses.filter(({ status }) => status === 202)).toHaveLength(10);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(20);
  });

  it('are all applied if they change a subscription, and keep the previous secret', async () => {
    const { client, id } = await given.subscriber(['order.created'], 'first');
    const responses = await Promise.all([
      client.patch(id, { events: ['order.shipped'] }),
      client.patch(id, { secret: 'second' }),
      client.patch(id, { secret: 'third' }),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await client.get(`/${id}`)).body.events).toEqual(['order.shipped']);
    const uuid = parsePublicId('whk', id) ?? '';
    const row = await given.stores.database.row<{ secret: Buffer; previous_secret: Buffer }>(readSecrets, [
      uuid,
    ]);
    const box = new SecretBox(given.worker.config.SECRET_ENCRYPTION_KEY);
    const storedSecrets = [row?.secret, row?.previous_secret].map((sealed) =>
      box.open(sealed ?? Buffer.alloc(0), uuid).toString(),
    );
    expect(storedSecrets.toSorted()).toEqual(['second', 'third']);
  });

  it('count each failed delivery once when they recover deliveries', async () => {
    const { client, id } = await given.subscriber();
    given.receiver.respondWith((response) => response.writeHead(500).end());
    await given.publish(...ordersCreated(client.creatorId, 8));
    await given.deliveriesWhen(allHaveStatus(8, 'failed'));
    given.receiver.respondWith((response) => response.writeHead(204).end());
    const responses = await concurrently(6, () => client.post({ since: longAgo }, `/${id}/recover`));
    expect(responses.map(({ body }) => body.matched).toSorted()).toEqual([0, 0, 0, 0, 0, 8]);
    await given.deliveriesWhen(allHaveStatus(8, 'succeeded'));
  });
});

describe('during a running attempt', () => {
  it('a deletion of the subscription fails the delivery after the attempt', async () => {
    const { client, id, respond } = await withRunningAttempt();
    await client.delete(id).expect(204);
    respond(500);
    const [row] = await given.deliveriesWhen(haveStatuses('failed'));
    expect(row?.failure_reason).toBe('subscription_deleted');
    expect(given.receiver.deliveries).toHaveLength(1);
  });

  it('a deletion of the subscription does not change the success of the attempt', async () => {
    const { client, id, respond } = await withRunningAttempt();
    await client.delete(id).expect(204);
    respond(204);
    await given.deliveriesWhen(haveStatuses('succeeded'));
  });

  it('a change of the subscription to disabled holds the delivery if the attempt fails', async () => {
    const { client, id, respond } = await withRunningAttempt();
    await client.patch(id, { status: 'disabled' }).expect(200);
    respond(500);
    await given.deliveriesWhen(haveStatuses('held'));
  });

  it('a change of the URL sends the delivery to the new one, and a 410 of the old one does not disable the subscription', async () => {
    const { client, id, respond } = await withRunningAttempt();
    const other = await webhookReceiver();
    try {
      await client.patch(id, { url: other.url }).expect(200);
      respond(410);
      await other.waitFor(1);
      await given.deliveriesWhen(haveStatuses('succeeded'));
      expect((await client.get(`/${id}`)).body).toMatchObject({ status: 'active', consecutive_failures: 0 });
    } finally {
      await other.stop();
    }
  });

  it('a change of the events does not undo that a 410 disables the subscription', async () => {
    const { client, id, respond } = await withRunningAttempt();
    respond(410);
    await concurrently(5, (index) =>
      client.patch(id, { events: ['order.created', 'order.shipped'].slice(index % 2) }),
    );
    await given.deliveriesWhen(haveStatuses('failed'));
    expect((await client.get(`/${id}`)).body).toMatchObject({ status: 'disabled' });
    expect((await client.get(`/${id}`)).body.disabled_at).not.toBeNull();
  });
});
