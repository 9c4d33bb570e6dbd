import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { type WebhookReceiver, webhookReceiver } from '@fulfilment/testing';
import { startWorker, type WebhookStores, webhookStores, type Worker } from './webhook-worker.fixture.js';

/**
 * Stores and a worker of the file's own, and a receiver of each test's own. To be called where hooks may be.
 */
export function setUpWorker(environment: Readonly<Record<string, string>> = {}) {
  let stores: WebhookStores | undefined;
  let worker: Worker | undefined;
  let receiver: WebhookReceiver | undefined;
  beforeAll(async () => {
    stores = await webhookStores();
    worker = await startWorker(stores, environment);
  });
  afterAll(async () => {
    await worker?.stop();
    await stores?.stop();
  });
  beforeEach(async () => {
    receiver = await webhookReceiver();
    stores?.forget();
  });
  afterEach(() => receiver?.stop());
  return {
    get stores() {
      return started(stores);
    },
    get worker() {
      return started(worker);
    },
    get receiver() {
      return started(receiver);
    },
  };
}

function started<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new Error('The tests have not started.');
  return part;
}
