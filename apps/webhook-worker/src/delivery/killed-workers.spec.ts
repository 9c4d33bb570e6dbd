import { statement } from '@fulfilment/database';
import { publicId } from '@fulfilment/contracts';
import { webhookStores, type WebhookStores } from '../webhook-worker.fixture.js';
import { shortLeases, startWorkerProcess, type WorkerProcess } from '../worker-process.fixture.js';
import { followFeed } from '../feed/followed-feed.fixture.js';
import { deliveryAudit, type DeliveryAudit } from './delivery-audit.fixture.js';

const eventCount = 2_000;
const killCount = 5;
const attemptsOf = statement(
  'test.attempts-of',
  `SELECT a.delivery_id, a.number, a.outcome, a.started_at, a.duration_ms FROM webhook_attempts a
   WHERE a.delivery_id = ANY($1::uuid[]) ORDER BY 1, 2`,
);

/** Processes are killed or stopped at critical points. Every delivery must arrive nevertheless. */
describe('2000 events are delivered under stable ids', () => {
  let stores: WebhookStores;
  let audit: DeliveryAudit;
  let started: WorkerProcess[];
  beforeAll(async () => {
    stores = await webhookStores();
  });
  afterAll(() => stores.stop());
  beforeEach(() => {
    started = [];
  });
  afterEach(async () => {
    await Promise.all(started.map((worker) => worker.kill()));
    await audit.stop();
  });

  const start = async (environment: Readonly<Record<string, string>> = {}): Promise<WorkerProcess> => {
    const worker = await startWorkerProcess(stores, { ...shortLeases, ...environment });
    started.push(worker);
    return worker;
  };
  const startReady = async (environment: Readonly<Record<string, string>> = {}): Promise<WorkerProcess> => {
    const worker = await start(environment);
    await worker.untilReady();
    return worker;
  };

  it('while one of two replicas is repeatedly killed between a POST and its settlement, and the feed has the same events', async () => {
    const first = await startReady();
    const replicas = [first, await startReady()];
    audit = await deliveryAudit(stores, first);
    const feed = await followFeed(stores, stores.creators[0] ?? '', () => replicas);
    for (let round = 0; round < killCount; round += 1) {
      const dying = replicas[round % 2];
      let requests = 0;
      // From the hundredth on, responses are sent only after the process is dead, so it never gets its own.
      audit.respondAfter(() => {
        requests += 1;
        return requests < 100 ? undefined : dying?.kill();
      });
      await audit.publish(eventCount / killCount);
      expect(await dying?.ended).toBe('SIGKILL');
      audit.respondAfter(() => undefined);
      replicas[round % 2] = await start();
    }
    await audit.untilSettled();
    await audit.expectNothingLost();
    expect(audit.lostResponses()).toBeGreaterThanOrEqual(killCount);
    // The second subscription of the first creator is for all events that the audit publishes.
    const delivered = audit.requests.filter(({ path }) => path === '/hook/1').map(({ body }) => body.id);
    expect((await feed.end()).toSorted()).toEqual([...new Set(delivered)].toSorted());
  });

  it('when a process stalls for longer than its leases, without overwriting what others settled', async () => {
    // No attempt ends before all are claimed.
    const stalled = await startReady({ WEBHOOK_TIMEOUT_MS: '4000' });
    audit = await deliveryAudit(stores, stalled);
    const openResponses: (() => void)[] = [];
    const openDeliveries = new Set<string>();
    await audit.publish(eventCount - 300);
    await audit.untilWritten();
    const arriving = audit.untilMoreArrive(100);
    audit.respondAfter(({ headers }) => {
      openDeliveries.add(String(headers['x-service-delivery']));
      return new Promise((resolve) => openResponses.push(() => resolve(undefined)));
    });
    await audit.publish(200);
    await audit.untilWritten(); // otherwise unacknowledged messages would wait for RabbitMQ
    await arriving;
    stalled.signal('SIGSTOP');
    audit.respondAfter(() => undefined);
    for (const respond of openResponses) respond(); // the responses wait in the sockets
    const second = await startReady();
    await audit.untilSettled();
    const uuids = (await audit.rows())
      .filter(({ id }) => openDeliveries.has(publicId('whd', id)))
      .map(({ id }) => id);
    expect(uuids.length).toBeGreaterThanOrEqual(99);
    const before = await stores.database.rows(attemptsOf, [uuids]);
    stalled.signal('SIGCONT');
    await second.kill();
    // Once it has settled these, it has settled what it held before the stall.
    await audit.publish(100);
    await audit.untilSettled();
    expect(await stores.database.rows(attemptsOf, [uuids])).toEqual(before);
    await audit.expectNothingLost();
  });
});
