import { webhookReceiver, type WebhookReceiver } from '@fulfilment/testing';
import {
  aClient,
  deliveriesWhen,
  orderCreated,
  startWorker,
  status,
  webhookStores,
  type WebhookStores,
  type Worker,
} from '../webhook-worker.fixture.js';
import { deliveriesAtATime } from './lanes.rules.js';

let stores: WebhookStores;
let worker: Worker;
let receiver: WebhookReceiver;
let most: number;

beforeAll(async () => {
  stores = await webhookStores();
  worker = await startWorker(stores, { WEBHOOK_RETRY_SCHEDULE_MS: '0,600000' });
});
afterAll(async () => {
  await worker.stop();
  await stores.stop();
});
beforeEach(async () => {
  receiver = await webhookReceiver();
  stores.forget();
});
afterEach(() => receiver.stop());

/** Answers a little later, and counts how many wait for that at a time. */
function answerCounting(statusCode: number): void {
  let underWay = 0;
  most = 0;
  receiver.answerWith((response) => {
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
    const client = await aClient(stores, worker);
    await client.subscribe(receiver.url);
    answerCounting(204);
    await stores.broker.publish(...Array.from({ length: 30 }, () => orderCreated(client.creatorId)));
    await receiver.waitFor(1);
    expect(most).toBe(deliveriesAtATime.unknown);
    for (let time = 0; time < 30; time += 1) await stores.broker.publish(orderCreated(client.creatorId));
    await deliveriesWhen(
      stores,
      (rows) => rows.length === 60 && rows.every((row) => row.status === 'succeeded'),
    );
    expect(most).toBe(deliveriesAtATime.healthy);
  });

  it('that fails is sent one at a time, also when a test event is asked for', async () => {
    const client = await aClient(stores, worker);
    const id = await client.subscribe(receiver.url);
    await stores.broker.publish(orderCreated(client.creatorId));
    await deliveriesWhen(stores, status('succeeded'));
    answerCounting(500);
    await stores.broker.publish(...Array.from({ length: 8 }, () => orderCreated(client.creatorId)));
    await receiver.waitFor(9);
    await deliveriesWhen(stores, (rows) => rows.filter((row) => row.status === 'retrying').length === 8);
    answerCounting(500);
    await stores.broker.publish(...Array.from({ length: 20 }, () => orderCreated(client.creatorId)));
    await Promise.all(Array.from({ length: 3 }, () => client.post({}, `/${id}/test`).expect(202)));
    await receiver.waitFor(9 + 23);
    expect(most).toBe(deliveriesAtATime.failing);
  });
});
