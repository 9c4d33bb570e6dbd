import { type FlakyProxy, flakyProxy, storeUrl } from '@fulfilment/testing';
import { Redis } from 'ioredis';
import { deleteRedisKeys, webhookStores, type WebhookStores } from '../webhook-worker.fixture.js';
import { shortLeases, startWorkerProcess, type WorkerProcess } from '../worker-process.fixture.js';
import { attemptOf, deliveryCheck, type DeliveryCheck } from './delivery-check.fixture.js';

const eventCount = 2_000;

/**
 * Redis loses its keys, stores drop connections and are unreachable. Every delivery must arrive nevertheless.
 */
describe('2000 events are delivered under stable ids', () => {
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
  const start = async (environment?: Readonly<Record<string, string>>): Promise<void> => {
    const worker = await startWorker(environment);
    await worker.untilReady();
    check = await deliveryCheck(stores, worker);
    stops.push(() => check.stop());
  };
  const startBehindProxy = async (setting: string, url: string): Promise<FlakyProxy> => {
    const proxy = await flakyProxy(url);
    stops.push(() => proxy.stop());
    await start({ [setting]: proxy.url });
    return proxy;
  };
  const expectEverythingArrives = async (): Promise<void> => {
    await check.untilSettled();
    await check.expectNothingLost();
  };

  it('while Redis loses all keys and is unreachable for a while', async () => {
    const proxy = await startBehindProxy('REDIS_URL', storeUrl('TEST_REDIS_URL'));
    const redis = new Redis(storeUrl('TEST_REDIS_URL'));
    for (let round = 0; round < 4; round += 1) {
      const arriving = check.untilMoreArrive(100);
      await check.publish(eventCount / 5);
      await arriving;
      await deleteRedisKeys(redis, stores.prefix);
    }
    redis.disconnect();
    proxy.disconnect();
    const arriving = check.untilMoreArrive(300);
    await check.publish(eventCount / 5);
    await arriving; // without Redis
    proxy.restore();
    await expectEverythingArrives();
  });

  it('while RabbitMQ repeatedly drops connections and is unreachable for a while', async () => {
    const proxy = await startBehindProxy('RABBITMQ_URL', stores.broker.url);
    for (let round = 0; round < 4; round += 1) {
      const arriving = check.untilMoreArrive(50);
      await check.publish(eventCount / 5);
      await arriving;
      proxy.sever();
    }
    proxy.disconnect();
    await check.publish(eventCount / 5);
    await check.untilDelivered();
    proxy.restore();
    await expectEverythingArrives();
  });

  it('while PostgreSQL repeatedly drops connections', async () => {
    const proxy = await startBehindProxy('DATABASE_URL', stores.url);
    for (let round = 0; round < 5; round += 1) {
      const arriving = check.untilMoreArrive(100);
      await check.publish(eventCount / 5);
      await arriving;
      // Drops the connection at once, or before the response to a statement, which may be a commit.
      if (round % 2 === 0) proxy.sever();
      else proxy.severAfter(10 + round);
    }
    await expectEverythingArrives();
  });

  it('when every message is published five times concurrently, to two replicas', async () => {
    await start();
    await startWorker();
    await stores.broker.publishOnEach(5, check.createChanges(eventCount));
    await expectEverythingArrives();
    expect(check.requests.length).toBe(new Set(check.requests.map(attemptOf)).size);
  });
});
