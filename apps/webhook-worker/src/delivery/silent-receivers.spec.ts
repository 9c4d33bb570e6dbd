import { webhookReceiver } from '@fulfilment/testing';
import {
  aClient,
  orderCreated,
  startWorker,
  webhookStores,
  type WebhookStores,
  type Worker,
} from '../webhook-worker.fixture.js';
import { maxConcurrentDispatches } from './lanes.rules.js';

const perClient = 50;
/** More than the time slices that a process may run, directly and by jobs. */
const silent = 2 * maxConcurrentDispatches.fast;
const timeoutMs = 60_000;
const soonMs = 10_000;

let stores: WebhookStores;
let worker: Worker;

beforeAll(async () => {
  stores = await webhookStores();
  worker = await startWorker(stores, {
    WEBHOOK_TIMEOUT_MS: String(timeoutMs),
    WEBHOOK_HOST_CONCURRENCY: '10000',
  });
});
afterAll(async () => {
  await worker.stop();
  await stores.stop();
});

describe('receivers that never respond', () => {
  it('occupy no time slice: another receiver is served soon, although they outnumber the slices', async () => {
    const [dead, good] = [await webhookReceiver(), await webhookReceiver()];
    try {
      dead.answerWith(() => undefined);
      for (let made = 0; made < silent; made += perClient) {
        const { creatorId, subscribe } = await aClient(stores, worker);
        await Promise.all(Array.from({ length: perClient }, () => subscribe(dead.url)));
        await stores.broker.publish(...Array.from({ length: 8 }, () => orderCreated(creatorId)));
      }
      await dead.waitFor(silent, soonMs);
      const { creatorId, subscribe } = await aClient(stores, worker);
      await subscribe(good.url);
      await stores.broker.publish(orderCreated(creatorId));
      await good.waitFor(1, soonMs);
    } finally {
      await dead.stop(); // ends the attempts that wait for it
      await good.stop();
    }
  });
});
