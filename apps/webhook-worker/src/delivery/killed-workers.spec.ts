import { statement } from '@fulfilment/database';
import { publicId } from '@fulfilment/contracts';
import { eventually } from '@fulfilment/testing';
import { webhookStores, type WebhookStores } from '../test/webhook-worker.fixture.js';
import { shortLeases, startWorkerProcess, type WorkerProcess } from '../test/worker-process.fixture.js';
import { type FollowedFeed, followFeed } from '../feed/followed-feed.fixture.js';
import { deliveryCheck, type DeliveryCheck } from './delivery-check.fixture.js';

const eventCount = 1_000;
/** Each of the two replicas is killed, and then the process that replaced it. */
const killCount = 4;
/** Events that are published before a process stalls, while its attempts get no response. */
const openEventCount = 200;
/** Events that are published when the process continues. */
const lateEventCount = 100;
/** Minimum number of deliveries with an open attempt when the process stalls. */
const minOpenDeliveries = 50;
const attemptsOf = statement(
  'test.attempts-of',
  `SELECT a.delivery_id, a.number, a.outcome, a.started_at, a.duration_ms FROM webhook_attempts a
   WHERE a.delivery_id = ANY($1::uuid[]) ORDER BY 1, 2`,
);

/** Kills or stops processes at critical points, and then checks that every delivery arrives. */
describe('1000 events are delivered under stable ids', () => {
  let stores: WebhookStores;
  let started: WorkerProcess[];
  let startedCheck: DeliveryCheck | undefined;
  let followedFeed: FollowedFeed | undefined;
  beforeAll(async () => {
    stores = await webhookStores();
  });
  afterAll(() => stores.stop());
  beforeEach(() => {
    started = [];
    startedCheck = undefined;
    followedFeed = undefined;
  });
  afterEach(async () => {
    followedFeed?.stop();
    await Promise.all(started.map((worker) => worker.kill()));
    await startedCheck?.stop();
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
  const startCheck = async (worker: WorkerProcess): Promise<DeliveryCheck> => {
    startedCheck = await deliveryCheck(stores, worker);
    return startedCheck;
  };

  it('while one of two replicas is repeatedly killed between a POST and its settlement, and the feed has the same events', async () => {
    const first = await startReady();
    const replicas = [first, await startReady()];
    const check = await startCheck(first);
    followedFeed = await followFeed(stores, stores.creators[0] ?? '', () => replicas);
    for (let round = 0; round < killCount; round += 1) {
      const dying = replicas[round % 2];
      let requests = 0;
      // From the hundredth request on, responses wait until the process is dead.
      check.respondAfter(() => {
        requests += 1;
        return requests < 100 ? undefined : dying?.kill();
      });
      await check.publish(eventCount / killCount);
      expect(await dying?.ended).toBe('SIGKILL');
      check.respondAfter(() => undefined);
      replicas[round % 2] = await start();
    }
    await check.untilSettled();
    await check.expectNothingLost();
    expect(check.lostResponses()).toBeGreaterThanOrEqual(killCount);
    // The second subscription of the first creator is for all events that the check publishes.
    const delivered = check.requests.filter(({ path }) => path === '/hook/1').map(({ body }) => body.id);
    expect((await followedFeed.end()).toSorted()).toEqual([...new Set(delivered)].toSorted());
  }, 300_000);

  it('when a process stalls for longer than its leases, without overwriting what others settled', async () => {
    // With the WEBHOOK_TIMEOUT_MS of `shortLeases`, one second, the first attempts could end before fifty are
    // open.
    const stalled = await startReady({ WEBHOOK_TIMEOUT_MS: '2000' });
    const check = await startCheck(stalled);
    const openResponses: (() => void)[] = [];
    const openDeliveries = new Set<string>();
    await check.publish(eventCount - openEventCount - lateEventCount);
    await check.untilWritten();
    check.respondAfter(({ headers }) => {
      openDeliveries.add(String(headers['x-service-delivery']));
      return new Promise((resolve) => openResponses.push(() => resolve(undefined)));
    });
    await check.publish(openEventCount);
    // Otherwise the stopped process would keep unacknowledged messages until RabbitMQ ends its channel.
    await check.untilWritten();
    await eventually(() => openDeliveries.size >= minOpenDeliveries);
    stalled.signal('SIGSTOP');
    check.respondAfter(() => undefined);
    for (const respond of openResponses) respond(); // the responses wait in the sockets
    const second = await startReady();
    await check.untilSettled();
    const uuids = (await check.rows())
      .filter(({ id }) => openDeliveries.has(publicId('whd', id)))
      .map(({ id }) => id);
    expect(uuids).toHaveLength(openDeliveries.size);
    const before = await stores.database.rows(attemptsOf, [uuids]);
    stalled.signal('SIGCONT');
    await second.kill();
    // The continued process first reads the responses that arrived while it was stopped.
    await check.publish(lateEventCount);
    await check.untilSettled();
    expect(await stores.database.rows(attemptsOf, [uuids])).toEqual(before);
    await check.expectNothingLost();
  }, 300_000);
});
