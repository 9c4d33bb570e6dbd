import { parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { webhookReceiver } from '@fulfilment/testing';
import type { ServerResponse } from 'node:http';
import { aClient, deliveriesWhen, orderCreated } from '../webhook-worker.fixture.js';
import { setUpWorker } from '../worker-setup.fixture.js';
import { SecretBox } from '@fulfilment/runtime';

const given = setUpWorker({ WEBHOOK_RETRY_SCHEDULE_MS: '0,50' });

const longAgo = '2020-01-01T00:00:00Z';
const secrets = statement(
  'test.secrets',
  'SELECT secret, previous_secret FROM webhook_subscriptions WHERE id = $1',
);
const times = <Result>(count: number, work: (index: number) => PromiseLike<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));

/** A subscription with an attempt under way, whose answer the test gives. */
async function withAttemptUnderWay() {
  const client = await aClient(given.stores, given.worker);
  const id = await client.subscribe(given.receiver.url);
  const waiting: ServerResponse[] = [];
  given.receiver.answerWith((response) => void waiting.push(response));
  await given.stores.broker.publish(orderCreated(client.creatorId));
  await given.receiver.waitFor(1);
  given.receiver.answerWith((response) => response.writeHead(204).end());
  return { client, id, answer: (status: number) => void waiting[0]?.writeHead(status).end() };
}

const only = (status: string) => (rows: readonly { status: string }[]) => rows[0]?.status === status;

describe('what comes at the same time', () => {
  it('sends ten test events in a minute, however many are asked for', async () => {
    const client = await aClient(given.stores, given.worker);
    const id = await client.subscribe(given.receiver.url);
    const answers = await times(30, () => client.post({}, `/${id}/test`));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
  });

  it('takes all of several changes, and keeps the secret before the last', async () => {
    const client = await aClient(given.stores, given.worker);
    const id = await client.subscribe(given.receiver.url, ['order.created'], 'first');
    const answers = await Promise.all([
      client.patch(id, { events: ['order.shipped'] }),
      client.patch(id, { secret: 'second' }),
      client.patch(id, { secret: 'third' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await client.get(`/${id}`)).body.events).toEqual(['order.shipped']);
    const uuid = parsePublicId('whk', id) ?? '';
    const row = await given.stores.database.row<{ secret: Buffer; previous_secret: Buffer }>(secrets, [uuid]);
    const box = new SecretBox(given.worker.config.SECRET_ENCRYPTION_KEY);
    const kept = [row?.secret, row?.previous_secret].map((sealed) =>
      box.open(sealed ?? Buffer.alloc(0), uuid).toString(),
    );
    expect(kept.toSorted()).toEqual(['second', 'third']);
  });

  it('counts each failed delivery in one recovery', async () => {
    const client = await aClient(given.stores, given.worker);
    const id = await client.subscribe(given.receiver.url);
    given.receiver.answerWith((response) => response.writeHead(500).end());
    await given.stores.broker.publish(...Array.from({ length: 8 }, () => orderCreated(client.creatorId)));
    await deliveriesWhen(
      given.stores,
      (rows) => rows.length === 8 && rows.every((row) => row.status === 'failed'),
    );
    given.receiver.answerWith((response) => response.writeHead(204).end());
    const answers = await times(6, () => client.post({ since: longAgo }, `/${id}/recover`));
    expect(answers.map(({ body }) => body.matched).toSorted()).toEqual([0, 0, 0, 0, 0, 8]);
    await deliveriesWhen(given.stores, (rows) => rows.every((row) => row.status === 'succeeded'));
  });
});

describe('while an attempt is under way', () => {
  it('deleting the subscription ends its delivery with the attempt', async () => {
    const { client, id, answer } = await withAttemptUnderWay();
    await client.delete(id).expect(204);
    answer(500);
    const [row] = await deliveriesWhen(given.stores, only('failed'));
    expect(row?.failure_reason).toBe('subscription_deleted');
    expect(given.receiver.deliveries).toHaveLength(1);
  });

  it('what a deleted subscription received is received', async () => {
    const { client, id, answer } = await withAttemptUnderWay();
    await client.delete(id).expect(204);
    answer(204);
    await deliveriesWhen(given.stores, only('succeeded'));
  });

  it('its owner may disable the subscription: what fails then is held', async () => {
    const { client, id, answer } = await withAttemptUnderWay();
    await client.patch(id, { status: 'disabled' }).expect(200);
    answer(500);
    await deliveriesWhen(given.stores, only('held'));
  });

  it('a 410 of a receiver that was replaced does not disable, and the delivery goes to the new one', async () => {
    const { client, id, answer } = await withAttemptUnderWay();
    const other = await webhookReceiver();
    try {
      await client.patch(id, { url: other.url }).expect(200);
      answer(410);
      await other.waitFor(1);
      await deliveriesWhen(given.stores, only('succeeded'));
      expect((await client.get(`/${id}`)).body).toMatchObject({ status: 'active', consecutive_failures: 0 });
    } finally {
      await other.stop();
    }
  });

  it('a change beside the 410 that disables is not lost', async () => {
    const { client, id, answer } = await withAttemptUnderWay();
    answer(410);
    await times(5, (index) =>
      client.patch(id, { events: ['order.created', 'order.shipped'].slice(index % 2) }),
    );
    await deliveriesWhen(given.stores, only('failed'));
    expect((await client.get(`/${id}`)).body).toMatchObject({ status: 'disabled' });
    expect((await client.get(`/${id}`)).body.disabled_at).not.toBeNull();
  });
});
