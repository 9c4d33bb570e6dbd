import { rejectLongBlocks } from '@fulfilment/testing';
import {
  aClient,
  startWorker,
  webhookStores,
  type WebhookStores,
  type Worker,
} from './webhook-worker.fixture.js';

let stores: WebhookStores;
let worker: Worker;
let token: string;
let url: string;
let id: string;
beforeAll(async () => {
  stores = await webhookStores();
  worker = await startWorker(stores);
  const client = await aClient(stores, worker);
  token = client.token;
  url = await worker.app.getUrl();
  const created = await client.post({ ...subscription, url: 'http://127.0.0.1:9/none' });
  id = String(created.body.id);
});
afterAll(async () => {
  await worker.stop();
  await stores.stop();
});

const subscription = { events: ['order.created'], url: 'https://192.0.2.1/hook', secret: 'a secret' };

const sendTo =
  (path: () => string, method = 'POST') =>
  async (body: string) => {
    const response = await fetch(`${url}/store/v1/webhooks${path()}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
    });
    expect(response.status).toBeLessThan(500);
    await response.arrayBuffer();
  };

describe('a request body of up to 256 KiB blocks the event loop of the webhook worker for at most 50 ms', () => {
  it(
    'when a subscription is created',
    () =>
      rejectLongBlocks(
        subscription,
        sendTo(() => ''),
      ),
    120_000,
  );

  it(
    'when a subscription is updated',
    () =>
      rejectLongBlocks(
        { ...subscription, status: 'active' },
        sendTo(() => `/${id}`, 'PATCH'),
      ),
    120_000,
  );

  it(
    'when deliveries are recovered',
    () =>
      rejectLongBlocks(
        { since: '2026-11-20T12:00:00Z', until: '2026-11-20T13:00:00Z', statuses: ['failed'] },
        sendTo(() => `/${id}/recover`),
        30,
      ),
    120_000,
  );

  it(
    'when a test event is sent',
    () =>
      rejectLongBlocks(
        { event: 'order.created' },
        sendTo(() => `/${id}/test`),
        30,
      ),
    120_000,
  );

  it(
    'when a delivery is retried',
    () =>
      rejectLongBlocks(
        {},
        sendTo(() => `/${id}/deliveries/whd_none/retry`),
        30,
      ),
    120_000,
  );
});
