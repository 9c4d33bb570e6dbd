import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { type WebhookReceiver, webhookReceiver } from '@fulfilment/testing';
import { startWorker, type WebhookStores, webhookStores, type Worker } from './webhook-worker.fixture.js';

/** Registers hooks for stores and a worker per file, and a receiver per test. */
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
    stores?.resetCreators();
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
  if (part === undefined) throw new Error('The hooks have not run yet.');
  return part;
}
