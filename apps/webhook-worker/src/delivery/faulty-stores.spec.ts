import { type SeverableProxy, severableProxy, storeUrl } from '@fulfilment/testing';
import { Redis } from 'ioredis';
import { deleteRedisKeys, webhookStores, type WebhookStores } from '../webhook-worker.fixture.js';
import { startWorkerProcess, type WorkerProcess } from '../worker-process.fixture.js';
import { attemptOf, deliveryAudit, type DeliveryAudit } from './delivery-audit.fixture.js';

const eventCount = 2_000;
/** A lease of two seconds: what a lost statement leaves behind is soon due again. */
const shortLeases = {
  WEBHOOK_RETRY_SCHEDULE_MS: '0,100,100,200,400,800',
  WEBHOOK_TIMEOUT_MS: '1000',
  WEBHOOK_LEASE_SLACK_MS: '1000',
};

/** Stores that forget, break off and are away. Afterwards the books must balance. */
describe('of 2000 events nothing is lost and nothing renamed', () => {
  let stores: WebhookStores;
  let proof: DeliveryAudit;
  let worker: WorkerProcess;
  let proxy: SeverableProxy | undefined;
  beforeAll(async () => {
    stores = await webhookStores();
  });
  afterAll(() => stores.stop());
  afterEach(async () => {
    await worker.kill();
    await proof.stop();
    await proxy?.stop();
    proxy = undefined;
  });

  const start = async (environment: Readonly<Record<string, string>> = {}): Promise<void> => {
    worker = await startWorkerProcess(stores, { ...shortLeases, ...environment });
    await worker.untilReady();
    proof = await deliveryAudit(stores, worker);
  };
  const startBehindProxy = async (setting: string, url: string): Promise<SeverableProxy> => {
    proxy = await severableProxy(url);
    await start({ [setting]: proxy.url });
    return proxy;
  };
  const everythingArrives = async (): Promise<void> => {
    await proof.settled();
    await proof.expectNothingLost();
  };

  it('while Redis forgets everything, and is away for a while', async () => {
    const line = await startBehindProxy('REDIS_URL', storeUrl('TEST_REDIS_URL'));
    const redis = new Redis(storeUrl('TEST_REDIS_URL'));
    for (let round = 0; round < 4; round += 1) {
      const arriving = proof.untilMoreArrive(100);
      await proof.publish(eventCount / 5);
      await arriving;
      await deleteRedisKeys(redis, stores.prefix);
    }
    redis.disconnect();
    line.takeAway();
    const arriving = proof.untilMoreArrive(300);
    await proof.publish(eventCount / 5);
    await arriving; // without Redis
    line.restore();
    await everythingArrives();
  }, 90_000);

  it('while RabbitMQ breaks off, again and again, and is away for a while', async () => {
    const line = await startBehindProxy('RABBITMQ_URL', stores.broker.url);
    for (let round = 0; round < 4; round += 1) {
      const arriving = proof.untilMoreArrive(50);
      await proof.publish(eventCount / 5);
      await arriving;
      line.sever();
    }
    line.takeAway();
    await proof.publish(eventCount / 5);
    await proof.untilWrittenArrived();
    line.restore();
    await everythingArrives();
  }, 90_000);

  it('while PostgreSQL breaks off, again and again', async () => {
    const line = await startBehindProxy('DATABASE_URL', stores.url);
    for (let round = 0; round < 5; round += 1) {
      const arriving = proof.untilMoreArrive(100);
      await proof.publish(eventCount / 5);
      await arriving;
      // At once, or as the answer to a statement is on its way: it may be that of a commit, of which nobody
      // learns then.
      if (round % 2 === 0) line.sever();
      else line.severAfter(10 + round);
    }
    await everythingArrives();
  }, 90_000);

  it('when every message is published five times, on five connections at once, to two replicas', async () => {
    await start();
    const other = await startWorkerProcess(stores, shortLeases);
    try {
      await stores.broker.publishOnEach(5, proof.change(eventCount));
      await everythingArrives();
      expect(proof.posts.length).toBe(new Set(proof.posts.map(attemptOf)).size);
    } finally {
      await other.kill();
    }
  }, 90_000);
});
