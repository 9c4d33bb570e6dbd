import { type FlakyProxy, flakyProxy, storeUrl } from '@fulfilment/testing';
import { Redis } from 'ioredis';
import { deleteRedisKeys, webhookStores, type WebhookStores } from '../webhook-worker.fixture.js';
import { shortLeases, startWorkerProcess, type WorkerProcess } from '../worker-process.fixture.js';
import { attemptOf, deliveryAudit, type DeliveryAudit } from './delivery-audit.fixture.js';

const eventCount = 2_000;

/**
 * Redis loses its keys, stores drop connections and are unreachable. Every delivery must arrive nevertheless.
 */
describe('2000 events are delivered under stable ids', () => {
  let stores: WebhookStores;
  let audit: DeliveryAudit;
  let worker: WorkerProcess;
  let startedProxy: FlakyProxy | undefined;
  beforeAll(async () => {
    stores = await webhookStores();
  });
  afterAll(() => stores.stop());
  afterEach(async () => {
    await worker.kill();
    await audit.stop();
    await startedProxy?.stop();
    startedProxy = undefined;
  });

  const start = async (environment: Readonly<Record<string, string>> = {}): Promise<void> => {
    worker = await startWorkerProcess(stores, { ...shortLeases, ...environment });
    await worker.untilReady();
    audit = await deliveryAudit(stores, worker);
  };
  const startBehindProxy = async (setting: string, url: string): Promise<FlakyProxy> => {
    const proxy = await flakyProxy(url);
    startedProxy = proxy;
    await start({ [setting]: proxy.url });
    return proxy;
  };
  const expectEverythingArrives = async (): Promise<void> => {
    await audit.untilSettled();
    await audit.expectNothingLost();
  };

  it('while Redis loses all keys and is unreachable for a while', async () => {
    const proxy = await startBehindProxy('REDIS_URL', storeUrl('TEST_REDIS_URL'));
    const redis = new Redis(storeUrl('TEST_REDIS_URL'));
    for (let round = 0; round < 4; round += 1) {
      const arriving = audit.untilMoreArrive(100);
      await audit.publish(eventCount / 5);
      await arriving;
      await deleteRedisKeys(redis, stores.prefix);
    }
    redis.disconnect();
    proxy.disconnect();
    const arriving = audit.untilMoreArrive(300);
    await audit.publish(eventCount / 5);
    await arriving; // without Redis
    proxy.restore();
    await expectEverythingArrives();
  });

  it('while RabbitMQ repeatedly drops connections and is unreachable for a while', async () => {
    const proxy = await startBehindProxy('RABBITMQ_URL', stores.broker.url);
    for (let round = 0; round < 4; round += 1) {
      const arriving = audit.untilMoreArrive(50);
      await audit.publish(eventCount / 5);
      await arriving;
      proxy.sever();
    }
    proxy.disconnect();
    await audit.publish(eventCount / 5);
    await audit.untilDelivered();
    proxy.restore();
    await expectEverythingArrives();
  });

  it('while PostgreSQL repeatedly drops connections', async () => {
    const proxy = await startBehindProxy('DATABASE_URL', stores.url);
    for (let round = 0; round < 5; round += 1) {
      const arriving = audit.untilMoreArrive(100);
      await audit.publish(eventCount / 5);
      await arriving;
      // Drops the connection at once, or before the response to a statement, which may be a commit.
      if (round % 2 === 0) proxy.sever();
      else proxy.severAfter(10 + round);
    }
    await expectEverythingArrives();
  });

  it('when every message is published five times concurrently, to two replicas', async () => {
    await start();
    const other = await startWorkerProcess(stores, shortLeases);
    try {
      await stores.broker.publishOnEach(5, audit.createChanges(eventCount));
      await expectEverythingArrives();
      expect(audit.requests.length).toBe(new Set(audit.requests.map(attemptOf)).size);
    } finally {
      await other.kill();
    }
  });
});
