import { messages, parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { createLogger } from '@fulfilment/runtime';
import { eventually } from '@fulfilment/testing';
import type { ServerResponse } from 'node:http';
import { FanOut } from '../fan-out/fan-out.js';
import { dayFromNow, timeFromNow, writeDue } from '../due-deliveries.fixture.js';
import { setUpWorker } from '../worker-setup.fixture.js';
import { aClient, anOrder, deliveriesWhen, orderCreated, status } from '../webhook-worker.fixture.js';
import { singleDay } from './day-span.rules.js';
import { DispatchQueues } from './dispatch-queues.js';
import { DispatchSubscription } from './dispatch-subscription.js';
import { maxConcurrentDeliveries } from './lanes.rules.js';
import { Reconciler } from './reconciler.js';
import { type DueSubscription, DispatchScheduler } from './dispatch-scheduler.js';

const given = setUpWorker({ WEBHOOK_RETRY_SCHEDULE_MS: '0,200' });

/** Would find what the drains under test are to find. */
beforeAll(() => given.worker.app.get(Reconciler).stop());

const waiting = statement(
  'test.waiting',
  'SELECT FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())',
);

/** A day that is over, and one that has no partition of its own yet. */
const otherDays = [dayFromNow(-1), dayFromNow(20)];

async function aSubscriber() {
  const client = await aClient(given.stores, given.worker);
  const id = await client.subscribe(given.receiver.url);
  const subscriptionId = parsePublicId('whk', id) ?? '';
  return {
    client,
    id,
    subscriptionId,
    publish: (count = 1) =>
      given.stores.broker.publish(...Array.from({ length: count }, () => orderCreated(client.creatorId))),
    /** Fans out an event of each of these days, in one batch. */
    tellOf: (...days: readonly number[]) => {
      const told = days.map((day) =>
        messages.orderCreated.make({ order: anOrder(client.creatorId) }, { occurredAt: timeFromNow(day) }),
      );
      return given.stores.database.transaction((tx) => given.worker.app.get(FanOut).run(tx, told));
    },
    /** A turn that is told no days, as a job of BullMQ begins it. */
    drainAnyDay: () => given.worker.app.get(DispatchSubscription).run({ subscriptionId, lane: 'fast' }),
    dueOfOtherDays: async () => {
      for (const day of otherDays) await writeDue(given.stores.database, subscriptionId, { day });
    },
  };
}

const allSucceed = (count: number) =>
  deliveriesWhen(
    given.stores,
    (rows) => rows.length === count && rows.every((row) => row.status === 'succeeded'),
  );

/** Keeps the receiver's answers back until the function that it returns is called. */
function keepAnswers(): () => void {
  const kept: ServerResponse[] = [];
  given.receiver.answerWith((response) => kept.push(response));
  return () => {
    given.receiver.answerWith((response) => response.writeHead(204).end());
    for (const response of kept) response.writeHead(204).end();
  };
}

describe("what is due of other days, while today's is sent", () => {
  it('is sent after the only attempt that a new receiver gets, when somebody came meanwhile', async () => {
    const { publish, dueOfOtherDays, drainAnyDay } = await aSubscriber();
    const answer = keepAnswers();
    await publish();
    await given.receiver.waitFor(1);
    await dueOfOtherDays();
    await drainAnyDay();
    answer();
    await allSucceed(3);
  });

  it('is sent after as many as there may be, when somebody came meanwhile', async () => {
    const { publish, dueOfOtherDays, drainAnyDay } = await aSubscriber();
    await publish();
    await allSucceed(1);
    const answer = keepAnswers();
    const many = maxConcurrentDeliveries.healthy;
    await publish(many);
    await given.receiver.waitFor(1 + many);
    await dueOfOtherDays();
    await drainAnyDay();
    answer();
    await allSucceed(1 + many + 2);
  });

  it('is sent when somebody came during the claim', async () => {
    const { subscriptionId, publish, dueOfOtherDays, drainAnyDay } = await aSubscriber();
    await publish();
    await allSucceed(1); // now the process knows its host
    const today = { subscriptionId, lane: 'fast', days: singleDay(dayFromNow(0)) } as const;
    await dueOfOtherDays();
    const claiming = await given.stores.database.transaction(async (tx) => {
      await tx.run({ name: '', text: 'LOCK TABLE webhook_subscriptions IN ACCESS EXCLUSIVE MODE' });
      const turn = given.worker.app.get(DispatchSubscription).run(today);
      await eventually(async () => (await tx.rows(waiting)).length > 0 || undefined);
      await drainAnyDay(); // ends at once: the turn that is claiming suffices
      return { turn };
    });
    await claiming.turn;
    await allSucceed(3);
  });

  it('gets its turn though there is always more of today', async () => {
    const { publish, dueOfOtherDays } = await aSubscriber();
    await publish();
    await allSucceed(1);
    await dueOfOtherDays();
    await publish(200);
    await allSucceed(203);
  });
});

describe('who knows the day of what is due', () => {
  it('has it sent at once, also when the day has no partition of its own', async () => {
    const { tellOf } = await aSubscriber();
    await tellOf(-1, 20, 0);
    await allSucceed(3);
  });

  it('has it sent again when its time has come, each on its day', async () => {
    const { tellOf } = await aSubscriber();
    given.receiver.answerWith((response) => response.writeHead(500).end());
    await tellOf(-1, 0);
    await given.receiver.waitFor(2);
    given.receiver.answerWith((response) => response.writeHead(204).end());
    await allSucceed(2);
  });

  it('of two that come together has both looked at', async () => {
    const { scheduler, woken } = wakeUpsAlone(given.worker.app.get(DispatchQueues));
    const [yesterday, today] = [dayFromNow(-1), dayFromNow(0)];
    scheduler.scheduleIn(20, [{ ...subscription, days: singleDay(today) }]);
    scheduler.scheduleIn(20, [{ ...subscription, days: singleDay(yesterday) }]);
    await eventually(() => woken.length > 0 || undefined);
    expect(woken).toMatchObject([{ ...subscription, days: { from: yesterday, to: today } }]);
  });

  it('does not limit what comes of its turn in line, also while Redis is away', async () => {
    const config = { ...given.worker.config, REDIS_URL: 'redis://127.0.0.1:1/' };
    const queues = new DispatchQueues(config, createLogger('test', 'silent'));
    const { scheduler, woken } = wakeUpsAlone(queues);
    scheduler.enqueue([{ ...subscription, days: singleDay(dayFromNow(0)) }]);
    await eventually(() => woken.length > 0 || undefined);
    expect(woken).toEqual([subscription]);
    await queues.stop();
  });
});

const subscription = { subscriptionId: 's', lane: 'fast' } as const;

/** Wake-ups that begin no drain, and the subscriptions they were for. */
function wakeUpsAlone(queues: DispatchQueues) {
  const woken: DueSubscription[] = [];
  const scheduler = new DispatchScheduler(queues, createLogger('test', 'silent'));
  scheduler.setLocalDispatcher({
    tryStart: (subscriptions) => {
      woken.push(...subscriptions);
      return [];
    },
    start: (subscriptions) => woken.push(...subscriptions),
  });
  return { scheduler, woken };
}

describe('what an owner asks for', () => {
  it('is sent at once, whatever its day', async () => {
    const { client, id, tellOf } = await aSubscriber();
    given.receiver.answerWith((response) => response.writeHead(500).end());
    await tellOf(-1);
    await deliveriesWhen(given.stores, status('failed'));
    given.receiver.answerWith((response) => response.writeHead(204).end());
    const { body } = await client.get(`/${id}/deliveries`);
    await client.post({}, `/${id}/deliveries/${body.data[0].id}/retry`).expect(202);
    await deliveriesWhen(given.stores, status('succeeded'));
  });

  it('is recovered, whatever its day', async () => {
    const { client, id, tellOf } = await aSubscriber();
    given.receiver.answerWith((response) => response.writeHead(500).end());
    await tellOf(-1, 20);
    await deliveriesWhen(given.stores, status('failed', 'failed'));
    given.receiver.answerWith((response) => response.writeHead(204).end());
    const since = timeFromNow(-1).toISOString();
    await client.post({ since }, `/${id}/recover`).expect(202);
    await allSucceed(2);
  });
});
