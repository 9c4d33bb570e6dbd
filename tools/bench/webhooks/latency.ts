import { publicId } from '@fulfilment/contracts';
import { z } from 'zod';
import { Failure } from '../../dev/failure.ts';
import type { BenchSite } from '../bench-site.ts';
import { figure, type Figure } from '../figures.ts';
import { latenciesAtRate, percentile } from '../fixed-rate.ts';
import { placedOrder } from '../placed-order.ts';
import { repeat } from '../rounds.ts';
import { type DeliveringWorker, subscribe, writtenEvents } from './delivering-worker.ts';
import { FactsSender } from './facts-sender.ts';
import type { Received, ReceiverProcess } from './receiver-process.ts';
import type { Subscriber } from './webhook-data.ts';

const orderEvent = z.object({ data: z.object({ order_id: z.string() }) });
/** Events a second, and the limit of the p99 in ms. */
const rates = [
  { perSecond: 500, atMost: 150 },
  { perSecond: 1000, atMost: 100 },
] as const;
const unresponsiveCount = 200;
const backlogCount = 50_000;
const perSecondAmongUnresponsive = 50;

/**
 * Measures the time from event to first byte while a separate service commits events one by one at a fixed
 * rate. The time of an event is before its transaction begins, so each figure includes the commit, the outbox
 * relay, RabbitMQ, the fan-out and the lease. It ends when the receiver has read the head of the request.
 */
export async function benchLatency(
  site: BenchSite,
  worker: DeliveringWorker,
  receiver: ReceiverProcess,
): Promise<Figure[]> {
  const sender = await FactsSender.start(site, worker.service.name, 'bench_webhooks_sender');
  try {
    const figures: Figure[] = [];
    for (const { perSecond, atMost } of rates) {
      const measure = () =>
        atRate(site, receiver, sender, { perSecond, to: worker.subscribers }, (count) =>
          worker.alsoExpect(count),
        );
      await measure(); // warm-up
      const rounds = await repeat(site.rounds, measure);
      await worker.waitUntilSettled();
      figures.push(...percentiles(`event to first byte at ${perSecond}/s`, rounds, { atMost }));
    }
    return figures;
  } finally {
    await sender.stop();
  }
}

/**
 * Measures the same for a subscription whose receiver responds, among many subscriptions with a backlog whose
 * receivers never respond.
 */
export async function benchWithDeadReceivers(
  site: BenchSite,
  worker: DeliveringWorker,
  receiver: ReceiverProcess,
): Promise<Figure[]> {
  const sender = await FactsSender.start(site, worker.service.name, 'bench_webhooks_sender');
  try {
    const unresponsive: Subscriber[] = [];
    for (let number = 0; number < unresponsiveCount; number += 1)
      unresponsive.push(await subscribe(worker.service, receiver.origin, `/dead/${number}`));
    const unresponsiveAt = (index: number): Subscriber =>
      unresponsive[index % unresponsiveCount] ?? worker.subscriberAt(0);
    await worker.data.addBacklog(writtenEvents(await worker.data.sampleBody(), backlogCount, unresponsiveAt));
    await sender.commit(unresponsive.map(({ creatorId }, index) => placedOrder(index, creatorId)));
    const good = { perSecond: perSecondAmongUnresponsive, to: [worker.subscriberAt(0)] };
    const rounds = await repeat(site.rounds, () => atRate(site, receiver, sender, good, () => undefined));
    return percentiles(
      `a good subscription next to ${unresponsiveCount} dead ones with ${backlogCount} due`,
      rounds,
      {
        atMost: 1_000,
      },
    );
  } finally {
    await sender.stop();
  }
}

interface AtRate {
  /** Times from each event to its arrival, in ms. */
  readonly toFirstByte: readonly number[];
  /** Times from each event's due time to its commit, in ms: they show whether the machine kept the rate. */
  readonly toCommit: readonly number[];
}

function percentiles(name: string, rounds: readonly AtRate[], target?: { atMost: number }): Figure[] {
  const ofRounds = (times: keyof AtRate, share: number): number[] =>
    rounds.map((round) => percentile(round[times], share));
  return [
    figure(`${name}, p50`, ofRounds('toFirstByte', 0.5), 'ms'),
    figure(`${name}, p99`, ofRounds('toFirstByte', 0.99), 'ms', target),
    figure('  their commits alone, from when they were due, p99', ofRounds('toCommit', 0.99), 'ms'),
  ];
}

/** Measures one round. The events go to the subscribers in turn. */
async function atRate(
  { eachMs }: BenchSite,
  receiver: ReceiverProcess,
  sender: FactsSender,
  { perSecond, to }: { readonly perSecond: number; readonly to: readonly Subscriber[] },
  onCommitted: (count: number) => void,
): Promise<AtRate> {
  const sent = new Map<string, string>();
  const toCommit = await latenciesAtRate(
    async () => {
      const subscriber = to[sent.size % to.length];
      if (subscriber === undefined) throw new Failure('There are no subscribers.');
      const order = placedOrder(sent.size, subscriber.creatorId);
      sent.set(publicId('ord', order.id), subscriber.path);
      await sender.commit([order]);
    },
    perSecond,
    2 * eachMs,
  );
  await receiver.waitForDeliveries(sent.size);
  const received = await receiver.take();
  const { size } = sent;
  onCommitted(size);
  if (received.length !== size || !received.every((one) => one.signed && takeFrom(sent, one)))
    throw new Failure(`Of ${size} events, ${received.length} deliveries came, or not the right ones.`);
  const toFirstByte = received.map(
    ({ arrivedAtMs, envelope }) => arrivedAtMs - Date.parse(envelope.created_at),
  );
  return { toFirstByte, toCommit };
}

/** Returns whether the delivery was expected, and removes it. */
function takeFrom(sent: Map<string, string>, { envelope, path }: Received): boolean {
  const { order_id: id } = orderEvent.parse(envelope).data;
  return sent.get(id) === path && sent.delete(id);
}
