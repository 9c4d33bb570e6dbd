import { type FlakyProxy, flakyProxy, storeUrl } from '@fulfilment/testing';
import { Redis } from 'ioredis';
import { deleteRedisKeys, webhookStores, type WebhookStores } from '../test/webhook-worker.fixture.js';
import { shortLeases, startWorkerProcess, type WorkerProcess } from '../test/worker-process.fixture.js';
import { attemptOf, deliveryCheck, type DeliveryCheck } from './delivery-check.fixture.js';

const eventCount = 1_000;
const roundCount = 4;

/**
 * Redis loses its keys, stores drop connections and are unreachable. Every delivery must arrive nevertheless.
 */
describe('1000 events are delivered under stable ids', () => {
  let stores: WebhookStores;
  let check: DeliveryCheck;
  let stops: (() => Promise<unknown>)[];
  beforeAll(async () => {
    stores = await webhookStores();
  });
  afterAll(() => stores.stop());
  beforeEach(() => {
    stops = [];
  });
  afterEach(async () => {
    for (const stop of stops.toReversed()) await stop();
  });

  const startWorker = async (environment: Readonly<Record<string, string>> = {}): Promise<WorkerProcess> => {
    const worker = await startWorkerProcess(stores, { ...shortLeases, ...environment });
    stops.push(() => worker.kill());
    return worker;
  };
  const startCheck = async (worker: WorkerProcess): Promise<void> => {
    await worker.untilReady();
    check = await deliveryCheck(stores, worker);
    stops.push(() => check.stop());
  };
  const startBehindProxy = async (setting: string, url: string): Promise<FlakyProxy> => {
    const proxy = await flakyProxy(url);
    stops.push(() => proxy.stop());
    await startCheck(await startWorker({ [setting]: proxy.url }));
    return proxy;
  };
  /** Publishes the events of a round. Resolves after this many further requests, while others are due. */
  const publishUntilArrived = async (requestCount: number): Promise<void> => {
    const arriving = check.untilMoreArrive(requestCount);
    await check.publish(eventCount / roundCount);
    await arriving;
  };
  const expectEverythingArrives = async (): Promise<void> => {
    await check.untilSettled();
    await check.expectNothingLost();
  };

  it('while Redis repeatedly loses all wake-ups, and then is unreachable for a while', async () => {
    const proxy = await startBehindProxy('REDIS_URL', storeUrl('TEST_REDIS_URL'));
    const redis = new Redis(storeUrl('TEST_REDIS_URL'));
    for (let round = 1; round < roundCount; round += 1) {
      await publishUntilArrived(100);
      await deleteRedisKeys(redis, stores.prefix);
    }
    redis.disconnect();
    proxy.disconnect();
    await publishUntilArrived(200);
    proxy.restore();
    await expectEverythingArrives();
  }, 300_000);

  it('while RabbitMQ repeatedly drops connections, and then is unreachable for a while', async () => {
    const proxy = await startBehindProxy('RABBITMQ_URL', stores.broker.url);
    for (let round = 1; round < roundCount; round += 1) {
      // More requests than earlier rounds have left, so the worker has connected again before each drop.
      await publishUntilArrived(250);
      proxy.sever();
    }
    proxy.disconnect();
    await check.publish(eventCount / roundCount);
    await check.untilDelivered(); // the events that the worker has consumed
    proxy.restore();
    await expectEverythingArrives();
  }, 300_000);

  it('while PostgreSQL repeatedly drops connections', async () => {
    const proxy = await startBehindProxy('DATABASE_URL', stores.url);
    for (let round = 0; round < roundCount; round += 1) {
      await publishUntilArrived(100);
      // Drops the connections at once, or before the response to a statement, which may be a commit.
      if (round % 2 === 0) proxy.sever();
      else proxy.severAfter(10 + round);
    }
    await expectEverythingArrives();
  }, 300_000);

  it('when every message is published five times concurrently, to two replicas', async () => {
    const [first, second] = [await startWorker(), await startWorker()];
    await second.untilReady();
    await startCheck(first);
    await stores.broker.publishOnEach(5, check.createChanges(eventCount));
    await expectEverythingArrives();
    expect(check.requests.length).toBe(new Set(check.requests.map(attemptOf)).size);
  }, 300_000);
});
