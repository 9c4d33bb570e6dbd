import { aClient, deliveriesWhen, orderCreated, status } from '../webhook-worker.fixture.js';
import { setUpWorker } from '../worker-setup.fixture.js';
import { maxConcurrentDeliveries } from './lanes.rules.js';

const given = setUpWorker({ WEBHOOK_RETRY_SCHEDULE_MS: '0,600000' });
let maxRunning: number;

/** Responds after 20 ms, and counts the maximum number of concurrent requests. */
function respondCounting(statusCode: number): void {
  let running = 0;
  maxRunning = 0;
  given.receiver.answerWith((response) => {
    running += 1;
    maxRunning = Math.max(maxRunning, running);
    setTimeout(() => {
      running -= 1;
      response.writeHead(statusCode).end();
    }, 20);
  });
}

describe('the deliveries of one subscription', () => {
  it('are sent one at a time until the receiver responds with 2xx, then eight at a time', async () => {
    const client = await aClient(given.stores, given.worker);
    await client.subscribe(given.receiver.url);
    respondCounting(204);
    await given.stores.broker.publish(...Array.from({ length: 30 }, () => orderCreated(client.creatorId)));
    await given.receiver.waitFor(1);
    expect(maxRunning).toBe(maxConcurrentDeliveries.unknown);
    for (let time = 0; time < 30; time += 1)
      await given.stores.broker.publish(orderCreated(client.creatorId));
    await deliveriesWhen(
      given.stores,
      (rows) => rows.length === 60 && rows.every((row) => row.status === 'succeeded'),
    );
    expect(maxRunning).toBe(maxConcurrentDeliveries.healthy);
  });

  it('are sent one at a time while the receiver fails, including requested test events', async () => {
    const client = await aClient(given.stores, given.worker);
    const id = await client.subscribe(given.receiver.url);
    await given.stores.broker.publish(orderCreated(client.creatorId));
    await deliveriesWhen(given.stores, status('succeeded'));
    respondCounting(500);
    await given.stores.broker.publish(...Array.from({ length: 8 }, () => orderCreated(client.creatorId)));
    await given.receiver.waitFor(9);
    await deliveriesWhen(
      given.stores,
      (rows) => rows.filter((row) => row.status === 'retrying').length === 8,
    );
    respondCounting(500);
    await given.stores.broker.publish(...Array.from({ length: 20 }, () => orderCreated(client.creatorId)));
    await Promise.all(Array.from({ length: 3 }, () => client.post({}, `/${id}/test`).expect(202)));
    await given.receiver.waitFor(9 + 23);
    expect(maxRunning).toBe(maxConcurrentDeliveries.failing);
  });
});
