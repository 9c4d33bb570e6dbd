import { messages, parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { untilLockWaits } from '@fulfilment/database/testing';
import type { ServerResponse } from 'node:http';
import { dayFromNow, timeFromNow, writeDue } from '../../test/due-deliveries.fixture.js';
import { setUpWorker } from '../../test/worker-setup.fixture.js';
import { anOrder } from '../../test/snapshots.fixture.js';
import { allHaveStatus, haveStatuses, ordersCreated } from '../../test/webhook-worker.fixture.js';
import { singleDay } from '../../dispatch-queue/day-span.rules.js';
import { DispatchQueue } from '../../dispatch-queue/dispatch-queue.js';
import { windowSizes } from '../concurrency/window.rules.js';
import { Reconciler } from '../reconciler/reconciler.js';

const given = setUpWorker({ WEBHOOK_RETRY_SCHEDULE_MS: '0,200' });

/** Stops the reconciler, so that only the tested code can find the deliveries. */
beforeAll(() => given.worker.app.get(Reconciler).stop());

const lockSubscriptions = statement(
  'test.lock-subscriptions',
  'LOCK TABLE webhook_subscriptions IN ACCESS EXCLUSIVE MODE',
);

/** A past day, and one without a partition of its own: more than a week ahead. */
const otherDays = [dayFromNow(-1), dayFromNow(20)];

async function aSubscriber() {
  const { client, id } = await given.subscriber();
  const subscriptionId = parsePublicId('whk', id) ?? '';
  return {
    client,
    id,
    subscriptionId,
    publish: (count = 1) => given.publish(...ordersCreated(client.creatorId, count)),
    /** Fans out one event for each of these numbers of days from now, in one batch. */
    fanOutOn: (...daysFromNow: readonly number[]) => {
      const events = daysFromNow.map((days) =>
        messages.orderCreated.make({ order: anOrder(client.creatorId) }, { occurredAt: timeFromNow(days) }),
      );
      return given.fanOut(...events);
    },
    /** A wake-up without days, like that of a BullMQ job or the reconciler. */
    requeueWithoutDays: () => given.worker.app.get(DispatchQueue).requeue([{ subscriptionId, lane: 'fast' }]),
    writeDueOnOtherDays: async () => {
      for (const day of otherDays)
        await writeDue(given.stores.database, subscriptionId, { day, forSeconds: 0 });
    },
  };
}

const allSucceed = (count: number) => given.deliveriesWhen(allHaveStatus(count, 'succeeded'));

/** Delays the receiver's responses until the returned function is called. */
function delayResponses(): () => void {
  const openResponses: ServerResponse[] = [];
  given.receiver.respondWith((response) => openResponses.push(response));
  return () => {
    given.receiver.respondWith((response) => response.writeHead(204).end());
    for (const response of openResponses) response.writeHead(204).end();
  };
}

describe('the dispatcher, while it sends deliveries of today', () => {
  it('also sends those of other days if a wake-up arrives during the only attempt that a new receiver gets', async () => {
    const { publish, writeDueOnOtherDays, requeueWithoutDays } = await aSubscriber();
    const respond = delayResponses();
    await publish();
    await given.receiver.waitFor(1);
    await writeDueOnOtherDays();
    requeueWithoutDays();
    respond();
    await allSucceed(3);
  });

  it('also sends those of other days if a wake-up arrives during the maximum number of attempts', async () => {
    const { publish, fanOutOn, writeDueOnOtherDays, requeueWithoutDays } = await aSubscriber();
    await publish();
    await allSucceed(1);
    const respond = delayResponses();
    await fanOutOn(...Array.from({ length: windowSizes.initial }, () => 0)); // one claim takes them all
    await given.receiver.waitFor(1 + windowSizes.initial);
    await writeDueOnOtherDays();
    requeueWithoutDays();
    respond();
    await allSucceed(1 + windowSizes.initial + 2);
  });

  it('also sends those of other days if a wake-up arrives during the claim', async () => {
    const { subscriptionId, publish, writeDueOnOtherDays, requeueWithoutDays } = await aSubscriber();
    await publish();
    await allSucceed(1); // caches the host, so that the next wake-up leads to a claim at once
    const dueToday = { subscriptionId, lane: 'fast', days: singleDay(dayFromNow(0)) } as const;
    await writeDueOnOtherDays();
    await given.stores.database.transaction(async (tx) => {
      await tx.run(lockSubscriptions);
      given.worker.app.get(DispatchQueue).requeue([dueToday]);
      await untilLockWaits(given.stores.database);
      requeueWithoutDays(); // the running claim is repeated
    });
    await allSucceed(3);
  });

  it('also sends those of other days if a wake-up arrives, although many more of today are due', async () => {
    const { publish, writeDueOnOtherDays, requeueWithoutDays } = await aSubscriber();
    await publish();
    await allSucceed(1);
    await writeDueOnOtherDays();
    await publish(200);
    await given.receiver.waitFor(2);
    requeueWithoutDays();
    await allSucceed(203);
  });
});

describe('a wake-up with the day of a due delivery', () => {
  it('leads to its attempt without the reconciler, even if the day has no partition of its own', async () => {
    const { fanOutOn } = await aSubscriber();
    await fanOutOn(-1, 20, 0);
    await allSucceed(3);
  });

  it('leads to a retry, whose wake-up has the same day, if the attempt fails', async () => {
    const { fanOutOn } = await aSubscriber();
    const failed = new Set<unknown>();
    given.receiver.respondWith((response, { headers }) => {
      const delivery = headers['x-service-delivery'];
      response.writeHead(failed.has(delivery) ? 204 : 500).end();
      failed.add(delivery);
    });
    await fanOutOn(-1, 0);
    await allSucceed(2);
    expect(given.receiver.deliveries).toHaveLength(4);
  });
});

describe('a delivery of another day', () => {
  it('is retried without the reconciler when its owner requests it', async () => {
    const { client, id, fanOutOn } = await aSubscriber();
    given.receiver.respondWith((response) => response.writeHead(500).end());
    await fanOutOn(-1);
    await given.deliveriesWhen(haveStatuses('failed'));
    given.receiver.respondWith((response) => response.writeHead(204).end());
    const { body } = await client.get(`/${id}/deliveries`);
    await client.post({}, `/${id}/deliveries/${body.data[0].id}/retry`).expect(202);
    await given.deliveriesWhen(haveStatuses('succeeded'));
  });

  it('is recovered without the reconciler when its owner requests it', async () => {
    const { client, id, fanOutOn } = await aSubscriber();
    given.receiver.respondWith((response) => response.writeHead(500).end());
    await fanOutOn(-1, 20);
    await given.deliveriesWhen(haveStatuses('failed', 'failed'));
    given.receiver.respondWith((response) => response.writeHead(204).end());
    const since = timeFromNow(-1).toISOString();
    await client.post({ since }, `/${id}/recover`).expect(202);
    await allSucceed(2);
  });
});
