import type { Message } from '@fulfilment/contracts';
import { type WebhookReceiver, webhookReceiver } from '@fulfilment/testing';
import { FanOut } from '../fan-out/fan-out.js';
import {
  aClient,
  deliveriesWhen,
  startWorker,
  type WebhookStores,
  webhookStores,
  type Worker,
  type WorkerParts,
} from './webhook-worker.fixture.js';

/** Registers hooks for stores and a worker per file, and a receiver per test. */
export function setUpWorker(environment: Readonly<Record<string, string>> = {}, parts: WorkerParts = {}) {
  let stores: WebhookStores | undefined;
  let worker: Worker | undefined;
  let receiver: WebhookReceiver | undefined;
  beforeAll(async () => {
    stores = await webhookStores();
    worker = await startWorker(stores, environment, parts);
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
  const given = {
    get stores() {
      return requireStarted(stores);
    },
    get worker() {
      return requireStarted(worker);
    },
    get receiver() {
      return requireStarted(receiver);
    },
    publish: (...messages: Message[]) => given.stores.broker.publish(...messages),
    /** Fans messages out in one batch, so that one claim can take all their deliveries. */
    fanOut: (...messages: Message[]) =>
      given.stores.database.transaction((tx) => given.worker.app.get(FanOut).run(tx, messages)),
    deliveriesWhen: (condition: DeliveryCondition) => deliveriesWhen(given.stores, condition),
    /**
     * Returns the deliveries once they satisfy the condition. Until then, runs the reconciler, so that new
     * deliveries of disabled subscriptions are held.
     */
    reconcileUntil: (condition: DeliveryCondition) =>
      given.deliveriesWhen((rows) => {
        given.worker.reconcile();
        return condition(rows);
      }),
    /** A client that calls the worker. @param claims the claims of its access token */
    client: (claims?: Parameters<typeof aClient>[2]) => aClient(given.stores, given.worker, claims),
    /** A client with a subscription at the receiver. */
    subscriber: async (events?: string[], secret?: string) => {
      const client = await given.client();
      return { client, id: await client.subscribe(given.receiver.url, events, secret) };
    },
  };
  return given;
}

type DeliveryCondition = Parameters<typeof deliveriesWhen>[1];

function requireStarted<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new Error('The hooks have not run yet.');
  return part;
}
