import { webhookReceiver, type WebhookReceiver } from '@fulfilment/testing';
import {
  aClient,
  deliveriesWhen,
  orderCreated,
  startWorker,
  haveStatuses,
  webhookStores,
  type WebhookStores,
  type Worker,
} from '../test/webhook-worker.fixture.js';

let stores: WebhookStores;
let worker: Worker;
let receiver: WebhookReceiver;

beforeAll(async () => {
  stores = await webhookStores();
});
afterAll(() => stores.stop());
beforeEach(async () => {
  receiver = await webhookReceiver();
  stores.resetCreators();
});
afterEach(async () => {
  await worker.stop();
  await receiver.stop();
});

describe('an outage', () => {
  it('of a receiver disables its subscription after enough failures, and its delivery is held', async () => {
    worker = await startWorker(stores, { WEBHOOK_DISABLE_FAILURES: '3', WEBHOOK_DISABLE_AFTER_MS: '0' });
    const client = await aClient(stores, worker);
    const id = await client.subscribe(receiver.url);
    receiver.respondWith((response) => response.writeHead(500).end());
    await stores.broker.publish(orderCreated(client.creatorId));
    const [row] = await deliveriesWhen(stores, haveStatuses('held'));
    expect(row?.attempt_count).toBe(3);
    expect((await client.get(`/${id}`)).body).toMatchObject({ status: 'disabled', consecutive_failures: 3 });
  });

  it('of Redis does not stop deliveries', async () => {
    worker = await startWorker(stores, { REDIS_URL: 'redis://127.0.0.1:1/' });
    const client = await aClient(stores, worker);
    await client.subscribe(receiver.url);
    await stores.broker.publish(orderCreated(client.creatorId));
    await deliveriesWhen(stores, haveStatuses('succeeded'));
  });

  it('of all workers does not lose the events that are published during it', async () => {
    const stopped = await startWorker(stores);
    const client = await aClient(stores, stopped);
    await client.subscribe(receiver.url);
    await stopped.stop();
    await stores.broker.publish(orderCreated(client.creatorId));
    worker = await startWorker(stores);
    await receiver.waitFor(1);
  });
});
