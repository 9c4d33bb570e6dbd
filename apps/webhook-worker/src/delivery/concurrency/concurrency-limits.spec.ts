import { parsePublicId } from '@fulfilment/contracts';
import { eventually } from '@fulfilment/testing';
import type { ServerResponse } from 'node:http';
import {
  allHaveStatus,
  haveStatuses,
  orderCreated,
  ordersCreated,
} from '../../test/webhook-worker.fixture.js';
import { dayFromNow, writeDue } from '../../test/due-deliveries.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';
import { countConcurrentRequests } from './concurrent-requests.fixture.js';

const given = setUpWorker({ WEBHOOK_RETRY_SCHEDULE_MS: '0,600000' }); // no retry during a test
const subscription = { events: ['order.created'], secret: 'whsec_test' };

/** Creates a subscription whose receiver has accepted a delivery, so that it counts as healthy. */
async function aHealthySubscriber(settings: object = {}) {
  const client = await given.client();
  const { body } = await client.post({ ...subscription, url: given.receiver.url, ...settings }).expect(201);
  const publish = (count: number): Promise<void> => given.publish(...ordersCreated(client.creatorId, count));
  await publish(1);
  await given.deliveriesWhen(haveStatuses('succeeded'));
  return { client, id: String(body.id), publish };
}
const allSucceed = (count: number) => given.deliveriesWhen(allHaveStatus(count, 'succeeded'));

describe('the deliveries of one subscription', () => {
  it('are sent one at a time until the receiver responds with 2xx, then eight or more at a time', async () => {
    const { client } = await given.subscriber();
    const openResponses: ServerResponse[] = [];
    given.receiver.respondWith((response) => void openResponses.push(response));
    await given.publish(...ordersCreated(client.creatorId, 30));
    await given.receiver.waitFor(1);
    await given.deliveriesWhen((rows) => rows.length === 30);
    expect(openResponses).toHaveLength(1);
    const maxRunning = countConcurrentRequests(given.receiver, { delayMs: 100 });
    for (const response of openResponses) response.writeHead(204).end();
    await allSucceed(30);
    expect(maxRunning()).toBeGreaterThanOrEqual(8);
  });

  it('are sent more than eight at a time while a healthy receiver stays fast, at most 64', async () => {
    const { publish } = await aHealthySubscriber();
    const maxRunning = countConcurrentRequests(given.receiver, { delayMs: 100 });
    let total = 1;
    await eventually(
      async () => {
        await publish(100);
        total += 100;
        await allSucceed(total);
        return maxRunning() > 16;
      },
      { timeoutMs: 100_000 },
    );
    expect(maxRunning()).toBeLessThanOrEqual(64);
  });

  it('are sent at most as many at a time as the owner allows, and a new maximum applies at once', async () => {
    const { client, id, publish } = await aHealthySubscriber({ max_in_flight: 3 });
    const maxRunning = countConcurrentRequests(given.receiver, { delayMs: 100 });
    await publish(20);
    await allSucceed(1 + 20);
    expect(maxRunning()).toBe(3);
    await client.patch(id, { max_in_flight: 12 }).expect(200);
    const maxRunningAfterChange = countConcurrentRequests(given.receiver, { delayMs: 100 });
    await publish(60);
    await allSucceed(1 + 20 + 60);
    expect(maxRunningAfterChange()).toBe(12);
  });

  it('are counted for the owner while they are due, with the due time of the oldest', async () => {
    const { client, id, publish } = await aHealthySubscriber({ max_in_flight: 1 });
    const before = Date.now();
    let respond = (): void => undefined;
    given.receiver.respondWith((response) => {
      respond = () => void response.writeHead(204).end();
    });
    await publish(5);
    await given.receiver.waitFor(2);
    await given.deliveriesWhen((rows) => rows.length === 6);
    const { body } = await client.get(`/${id}`).expect(200);
    expect(body.due_deliveries).toBe(4); // one is in flight
    expect(Date.parse(body.oldest_due_at)).toBeGreaterThan(before - 60_000); // PostgreSQL's clock may differ
    expect(Date.parse(body.oldest_due_at)).toBeLessThanOrEqual(Date.now());
    given.receiver.respondWith((response) => response.writeHead(204).end());
    respond();
    await allSucceed(6);
    expect((await client.get(`/${id}`)).body).toMatchObject({ due_deliveries: 0, oldest_due_at: null });
  });

  it('are counted for the owner up to 1000', async () => {
    const { client, id, publish } = await aHealthySubscriber({ max_in_flight: 1 });
    given.receiver.respondWith(() => undefined);
    await publish(1);
    await given.receiver.waitFor(2); // so no other delivery is sent
    await writeDue(given.stores.database, parsePublicId('whk', id) ?? '', {
      day: dayFromNow(0),
      count: 1_001,
    });
    expect((await client.get(`/${id}`)).body.due_deliveries).toBe(1_000);
    await client.delete(id).expect(204);
  });

  it('are sent one at a time while the receiver fails, including requested test events', async () => {
    const { client, id } = await given.subscriber();
    await given.publish(orderCreated(client.creatorId));
    await given.deliveriesWhen(haveStatuses('succeeded'));
    given.receiver.respondWith((response) => response.writeHead(500).end());
    await given.publish(...ordersCreated(client.creatorId, 8));
    await given.receiver.waitFor(9);
    await given.deliveriesWhen((rows) => rows.filter((row) => row.status === 'retrying').length === 8);
    const maxRunning = countConcurrentRequests(given.receiver, { statusCode: 500 });
    await given.publish(...ordersCreated(client.creatorId, 20));
    await Promise.all(Array.from({ length: 3 }, () => client.post({}, `/${id}/test`).expect(202)));
    await given.receiver.waitFor(9 + 20 + 3);
    expect(maxRunning()).toBe(1);
  });
});
