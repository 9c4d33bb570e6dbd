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

let stores: WebhookStores;
let worker: Worker;
let receiver: WebhookReceiver;

beforeAll(async () => {
  stores = await webhookStores();
  worker = await startWorker(stores);
});
afterAll(async () => {
  await worker.stop();
  await stores.stop();
});
beforeEach(async () => {
  receiver = await webhookReceiver();
  stores.resetCreators();
});
afterEach(() => receiver.stop());

describe('a worker', () => {
  it('disables a subscription after enough failures and time, and holds the rest', async () => {
    await worker.stop();
    worker = await startWorker(stores, { WEBHOOK_DISABLE_FAILURES: '3', WEBHOOK_DISABLE_AFTER_MS: '0' });
    try {
      const client = await aClient(stores, worker);
      const id = await client.subscribe(receiver.url);
      receiver.respondWith((response) => response.writeHead(500).end());
      await stores.broker.publish(orderCreated(client.creatorId));
      const [row] = await deliveriesWhen(stores, status('held'));
      expect(row?.attempt_count).toBe(3);
      expect((await client.get(`/${id}`)).body).toMatchObject({
        status: 'disabled',
        consecutive_failures: 3,
      });
    } finally {
      await worker.stop();
      worker = await startWorker(stores);
    }
  });

  it('delivers while Redis is unreachable', async () => {
    await worker.stop();
    worker = await startWorker(stores, { REDIS_URL: 'redis://127.0.0.1:1/' });
    try {
      const client = await aClient(stores, worker);
      await client.subscribe(receiver.url);
      await stores.broker.publish(orderCreated(client.creatorId));
      await deliveriesWhen(stores, status('succeeded'));
    } finally {
      await worker.stop();
      worker = await startWorker(stores);
    }
  });

  it('delivers events that were published while no worker was running', async () => {
    const client = await aClient(stores, worker);
    await client.subscribe(receiver.url);
    await worker.stop();
    await stores.broker.publish(orderCreated(client.creatorId));
    worker = await startWorker(stores);
    await receiver.waitFor(1);
  });
});
