import { webhookReceiver, type WebhookReceiver } from '@fulfilment/testing';
import type { ServerResponse } from 'node:http';
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

const atATime = 3;

let stores: WebhookStores;
let worker: Worker;
let receiver: WebhookReceiver;

beforeAll(async () => {
  stores = await webhookStores();
  worker = await startWorker(stores, {
    WEBHOOK_HOST_CONCURRENCY: String(atATime),
    WEBHOOK_TIMEOUT_MS: '20000',
  });
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

describe('one receiving host', () => {
  it('has a few attempts under way at a time, and one more of each further subscription, and gets all in the end', async () => {
    const clients = [await aClient(stores, worker), await aClient(stores, worker)];
    for (const client of clients) {
      for (let count = 0; count < 3; count += 1) await client.subscribe(receiver.url);
    }
    let [underWay, most] = [0, 0];
    receiver.answerWith((response) => {
      underWay += 1;
      most = Math.max(most, underWay);
      setTimeout(() => {
        underWay -= 1;
        response.writeHead(204).end();
      }, 5);
    });
    const facts = clients.flatMap(({ creatorId }) =>
      Array.from({ length: 5 }, () => orderCreated(creatorId)),
    );
    await stores.broker.publish(...facts);
    await deliveriesWhen(
      stores,
      (rows) => rows.length === 30 && rows.every((row) => row.status === 'succeeded'),
    );
    expect(most).toBeGreaterThanOrEqual(atATime);
    expect(most).toBeLessThanOrEqual(atATime + 5);
    expect(receiver.deliveries).toHaveLength(30);
  });

  it('has no more of one subscription than of all', async () => {
    const client = await aClient(stores, worker);
    await client.subscribe(receiver.url);
    await stores.broker.publish(orderCreated(client.creatorId));
    await deliveriesWhen(stores, status('succeeded')); // until then one at a time
    const unanswered: ServerResponse[] = [];
    receiver.answerWith((response) => void unanswered.push(response));
    await stores.broker.publish(...Array.from({ length: 6 }, () => orderCreated(client.creatorId)));
    await receiver.waitFor(1 + atATime);
    const other = await webhookReceiver();
    try {
      await client.subscribe(other.url);
      await stores.broker.publish(orderCreated(client.creatorId));
      await other.waitFor(1); // so everything of before had its chance
    } finally {
      await other.stop();
    }
    expect(receiver.deliveries).toHaveLength(1 + atATime);
    receiver.answerWith((response) => response.writeHead(204).end());
    for (const response of unanswered) response.writeHead(204).end();
    await receiver.waitFor(1 + 6 + 1);
  });

  it('that does not answer keeps no other waiting, nor a living subscription on it, and its own are tried when it does', async () => {
    const other = await webhookReceiver();
    try {
      const client = await aClient(stores, worker);
      for (let count = 0; count < 5; count += 1) await client.subscribe(`${receiver.url}/dead`);
      const living = await aClient(stores, worker);
      await living.subscribe(`${receiver.url}/alive`);
      const unanswered: ServerResponse[] = [];
      receiver.answerWith((response, { path }) => {
        if (path === '/alive') response.writeHead(204).end();
        else unanswered.push(response);
      });
      await stores.broker.publish(orderCreated(client.creatorId), orderCreated(client.creatorId));
      await receiver.waitFor(5);
      await stores.broker.publish(orderCreated(living.creatorId));
      await receiver.waitFor(6);
      await client.subscribe(other.url, ['order.created']);
      await stores.broker.publish(orderCreated(client.creatorId));
      await other.waitFor(1);
      receiver.answerWith((response) => response.writeHead(204).end());
      for (const response of unanswered) response.writeHead(204).end();
      await receiver.waitFor(1 + 3 * 5);
    } finally {
      await other.stop();
    }
  });
});
