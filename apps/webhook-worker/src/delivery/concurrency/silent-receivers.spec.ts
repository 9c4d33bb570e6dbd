import { webhookReceiver } from '@fulfilment/testing';
import { orderCreated, ordersCreated } from '../../test/webhook-worker.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';
import { maxSubscriptions } from '../../subscriptions/subscription.rules.js';

/** More subscriptions than may wait in a process (200), and fewer than its concurrent attempts (2,500). */
const silentCount = 300;
const timeoutMs = 60_000;
/** Twice this time is less than the timeout of the attempts, so no attempt ends during the test. */
const soonMs = 25_000;

const given = setUpWorker({
  WEBHOOK_TIMEOUT_MS: String(timeoutMs),
  WEBHOOK_HOST_CONCURRENCY: '10000', // the silent receivers are one host
});

describe('receivers that never respond', () => {
  it('do not delay another receiver, although more of them have due deliveries than may wait in a process', async () => {
    const [dead, good] = [await webhookReceiver(), await webhookReceiver()];
    try {
      dead.respondWith(() => undefined);
      for (let count = 0; count < silentCount; count += maxSubscriptions) {
        const { creatorId, subscribe } = await given.client();
        await Promise.all(Array.from({ length: maxSubscriptions }, () => subscribe(dead.url)));
        await given.publish(...ordersCreated(creatorId, 2)); // the second waits for the first
      }
      await dead.waitFor(silentCount, soonMs);
      const { creatorId, subscribe } = await given.client();
      await subscribe(good.url);
      await given.publish(orderCreated(creatorId));
      await good.waitFor(1, soonMs);
    } finally {
      await dead.stop(); // ends the attempts that wait for it
      await good.stop();
    }
  });
});
