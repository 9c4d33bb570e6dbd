import { uuidv7 } from '@fulfilment/contracts';
import { createLogger } from '@fulfilment/runtime';
import { eventually, storeUrl, uniqueName } from '@fulfilment/testing';
import { Redis } from 'ioredis';
import { deleteRedisKeys } from '../test/webhook-worker.fixture.js';
import { PatientDispatchJobs } from './dispatch-jobs.fixture.js';
import { DispatchQueue, maxWaiting } from './dispatch-queue.js';
import type { DueSubscription } from './lane-queue.js';

const prefix = uniqueName('dispatch');
const logger = createLogger('test', 'silent');
const stops: (() => Promise<void>)[] = [];

const settings = { REDIS_URL: storeUrl('TEST_REDIS_URL'), WEBHOOK_QUEUE_PREFIX: prefix };

/** The queue of one process. */
function aProcess(url = settings.REDIS_URL) {
  const jobs = new PatientDispatchJobs({ ...settings, REDIS_URL: url }, logger);
  const queue = new DispatchQueue(jobs, logger);
  queue.start();
  const stop = async (): Promise<void> => {
    await queue.stop();
    await jobs.onApplicationShutdown();
  };
  stops.push(stop);
  return { queue, stop, connected: () => eventually(() => jobs.isConnected) };
}

const dueSubscriptions = (count: number): DueSubscription[] =>
  Array.from({ length: count }, () => ({ subscriptionId: uuidv7(), lane: 'fast' }));

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  const redis = new Redis(storeUrl('TEST_REDIS_URL'));
  await deleteRedisKeys(redis, prefix);
  redis.disconnect();
});

/** Takes that many subscriptions. Returns their ids. */
async function take(queue: DispatchQueue, count: number): Promise<Set<string>> {
  const ids = new Set<string>();
  while (ids.size < count) {
    const due = await queue.next('fast');
    if (due === undefined) throw new Error('The queue was stopped.');
    ids.add(due.subscriptionId);
  }
  return ids;
}

const idsOf = (due: readonly DueSubscription[]) => new Set(due.map(({ subscriptionId }) => subscriptionId));

describe('subscriptions in the dispatch queue', () => {
  it('wait in their process; those beyond its limit are taken by another process', async () => {
    const [busy, idle] = [aProcess(), aProcess()];
    await Promise.all([busy.connected(), idle.connected()]);
    const local = dueSubscriptions(maxWaiting);
    busy.queue.requeue(local);
    const further = dueSubscriptions(150); // its own workers take at most 100 of them
    busy.queue.requeue(further);
    const [first] = await take(idle.queue, 1);
    expect(idsOf(further)).toContain(first);
    expect(local.filter((due) => !busy.queue.isWaiting(due))).toEqual([]);
  });

  it('are taken in the order of their delays, once for deliveries that are due together, with their day', async () => {
    const { queue, connected } = aProcess();
    await connected();
    const days = { from: '2026-11-20', to: '2026-11-20' };
    const [one, other] = dueSubscriptions(2).map((due) => ({ ...due, days, delayMs: 50 }));
    if (one === undefined || other === undefined) throw new Error('There are no two subscriptions.');
    queue.requeue([one, one, { ...other, delayMs: 250 }]);
    expect(await queue.next('fast')).toEqual({ subscriptionId: one.subscriptionId, lane: 'fast', days });
    expect(await queue.next('fast')).toMatchObject({ subscriptionId: other.subscriptionId });
  });

  it('are all taken by their own process while Redis is unreachable', async () => {
    const { queue } = aProcess('redis://127.0.0.1:1/');
    const due = dueSubscriptions(maxWaiting + 50);
    queue.requeue(due);
    expect(await take(queue, due.length)).toEqual(idsOf(due));
  });

  it('are left to other processes by a process that stops', async () => {
    const [stopping, other] = [aProcess(), aProcess()];
    await Promise.all([stopping.connected(), other.connected()]);
    const due = dueSubscriptions(50);
    stopping.queue.requeue(due);
    await stopping.stop();
    expect(await stopping.queue.next('fast')).toBeUndefined();
    expect(await take(other.queue, due.length)).toEqual(idsOf(due));
  });
});

it('a queue has stopped only when its subscriptions are left to other processes', async () => {
  const added = Promise.withResolvers<void>();
  const queue = new DispatchQueue(
    { start: () => undefined, add: () => added.promise, stopWorkers: () => Promise.resolve() },
    logger,
  );
  queue.requeue(dueSubscriptions(1));
  let hasStopped = false;
  const stopping = queue.stop().then(() => (hasStopped = true));
  await new Promise(setImmediate);
  expect(hasStopped).toBe(false);
  added.resolve();
  await stopping;
});

it('a job that a stopping process cannot leave to others is logged', async () => {
  const lines: string[] = [];
  const jobs = new PatientDispatchJobs(
    settings,
    createLogger('test', 'warn', { write: (line) => void lines.push(line) }),
  );
  stops.push(async () => {
    await jobs.stopWorkers();
    await jobs.onApplicationShutdown();
  });
  jobs.start(() => Promise.reject(new Error('Redis is not connected.')));
  await eventually(() => jobs.isConnected);
  await jobs.add(dueSubscriptions(1));
  expect(await eventually(() => lines[0])).toContain('Redis is not connected.');
});
