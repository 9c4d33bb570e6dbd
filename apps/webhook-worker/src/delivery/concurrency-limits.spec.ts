import { aClient, deliveriesWhen, orderCreated, status } from '../webhook-worker.fixture.js';
import { setUpWorker } from '../worker-setup.fixture.js';
import { maxConcurrentDeliveries } from './lanes.rules.js';

const given = setUpWorker({ WEBHOOK_RETRY_SCHEDULE_MS: '0,600000' });
let most: number;

/** Answers a little later, and counts how many wait for that at a time. */
function answerCounting(statusCode: number): void {
  let underWay = 0;
  most = 0;
  given.receiver.answerWith((response) => {
    underWay += 1;
    most = Math.max(most, underWay);
    setTimeout(() => {
      underWay -= 1;
      response.writeHead(statusCode).end();
    }, 20);
  });
}

describe('one subscription', () => {
  it('is sent one until it has answered 2xx, then eight at a time, whoever wakes it', async () => {
    const client = await aClient(given.stores, given.worker);
    await client.subscribe(given.receiver.url);
    answerCounting(204);
    await given.stores.broker.publish(...Array.from({ length: 30 }, () => orderCreated(client.creatorId)));
    await given.receiver.waitFor(1);
    expect(most).toBe(maxConcurrentDeliveries.unknown);
    for (let time = 0; time < 30; time += 1)
      await given.stores.broker.publish(orderCreated(client.creatorId));
    await deliveriesWhen(
      given.stores,
      (rows) => rows.length === 60 && rows.every((row) => row.status === 'succeeded'),
    );
    expect(most).toBe(maxConcurrentDeliveries.healthy);
  });

  it('that fails is sent one at a time, also when a test event is asked for', async () => {
    const client = await aClient(given.stores, given.worker);
    const id = await client.subscribe(given.receiver.url);
    await given.stores.broker.publish(orderCreated(client.creatorId));
    await deliveriesWhen(given.stores, status('succeeded'));
    answerCounting(500);
    await given.stores.broker.publish(...Array.from({ length: 8 }, () => orderCreated(client.creatorId)));
    await given.receiver.waitFor(9);
    await deliveriesWhen(
      given.stores,
      (rows) => rows.filter((row) => row.status === 'retrying').length === 8,
    );
    answerCounting(500);
    await given.stores.broker.publish(...Array.from({ length: 20 }, () => orderCreated(client.creatorId)));
    await Promise.all(Array.from({ length: 3 }, () => client.post({}, `/${id}/test`).expect(202)));
    await given.receiver.waitFor(9 + 23);
    expect(most).toBe(maxConcurrentDeliveries.failing);
  });
});
