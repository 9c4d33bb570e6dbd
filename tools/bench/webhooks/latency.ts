import { publicId } from '@fulfilment/contracts';
import { Failure } from '../../dev/failure.ts';
import type { BenchContext } from '../bench-context.ts';
import { figure, type Figure } from '../figures.ts';
import { latenciesAtRate, percentile } from '../fixed-rate.ts';
import { placedOrder } from '../placed-order.ts';
import { repeat } from '../rounds.ts';
import { type DeliveringWorker, subscribe, copiesOfEvent } from './delivering-worker.ts';
import { type OutboxSender, startOutboxSender } from './outbox-sender.ts';
import type { ReceiverProcess } from './receiver-process.ts';
import type { Subscriber } from './webhook-data.ts';

/** Rates of events, with the target of the p99. */
const rates = [
  { perSecond: 500, atMostMs: 100 },
  { perSecond: 1000, atMostMs: 100 },
] as const;
const unresponsiveCount = 200;
const backlogCount = 50_000;
const healthyPerSecond = 50;

/**
 * Measures the time from event to first byte while a separate process commits events one by one at a fixed
 * rate. The time starts before the transaction of the event, so it includes the commit, the outbox relay,
 * RabbitMQ, the fan-out and the lease. It ends when the receiver has read the head of the request.
 */
export async function benchLatency(
  context: BenchContext,
  worker: DeliveringWorker,
  receiver: ReceiverProcess,
): Promise<Figure[]> {
  const sender = await startOutboxSender(context, worker.service.name, 'bench_webhooks_sender');
  try {
    const figures: Figure[] = [];
    for (const { perSecond, atMostMs } of rates) {
      const measure = () =>
        measureAtRate(context, receiver, sender, { perSecond, subscribers: worker.subscribers });
      const warmUp = await measure();
      const rounds = await repeat(context.rounds, measure);
      for (const { toFirstByteMs } of [warmUp, ...rounds]) worker.addExpected(toFirstByteMs.length);
      await worker.waitUntilSettled();
      figures.push(...percentiles(`event to first byte at ${perSecond}/s`, rounds, { atMost: atMostMs }));
    }
    return figures;
  } finally {
    await sender.stop();
  }
}

/**
 * Measures the time from event to first byte for one subscription with a healthy receiver, next to many
 * subscriptions with a backlog whose receivers never respond.
 */
export async function benchWithUnresponsiveReceivers(
  context: BenchContext,
  worker: DeliveringWorker,
  receiver: ReceiverProcess,
): Promise<Figure[]> {
  const sender = await startOutboxSender(context, worker.service.name, 'bench_webhooks_sender');
  try {
    const unresponsive: Subscriber[] = [];
    for (let number = 0; number < unresponsiveCount; number += 1)
      unresponsive.push(await subscribe(worker.service, receiver.origin, `/dead/${number}`));
    await worker.data.addBacklog(copiesOfEvent(await worker.data.sampleBody(), backlogCount, unresponsive));
    // Rows of the backlog start no dispatch: one real event of each subscription does.
    await sender.commit(unresponsive.map(({ creatorId }, index) => placedOrder(index, creatorId)));
    const healthy = { perSecond: healthyPerSecond, subscribers: worker.subscribers.slice(0, 1) };
    const rounds = await repeat(context.rounds, () => measureAtRate(context, receiver, sender, healthy));
    return percentiles(
      `a healthy subscription next to ${unresponsiveCount} unresponsive ones with ${backlogCount} deliveries due`,
      rounds,
      { atMost: 1_000 },
    );
  } finally {
    await sender.stop();
  }
}

/** Latencies of a round, one per event. */
interface Latencies {
  /** Time from the event to its arrival at the receiver. */
  readonly toFirstByteMs: readonly number[];
  /** Time from when the event was due until its commit, which shows whether the machine kept the rate. */
  readonly toCommitMs: readonly number[];
}

function percentiles(name: string, rounds: readonly Latencies[], target?: { atMost: number }): Figure[] {
  const perRound = (times: keyof Latencies, share: number): number[] =>
    rounds.map((round) => percentile(round[times], share));
  return [
    figure(`${name}, p50`, perRound('toFirstByteMs', 0.5), 'ms'),
    figure(`${name}, p99`, perRound('toFirstByteMs', 0.99), 'ms', target),
    figure('  from when the event was due to its commit, p99', perRound('toCommitMs', 0.99), 'ms'),
  ];
}

/** Measures one round, twice as long as other samples. Distributes the events evenly over the subscribers. */
async function measureAtRate(
  { eachMs }: BenchContext,
  receiver: ReceiverProcess,
  sender: OutboxSender,
  { perSecond, subscribers }: { readonly perSecond: number; readonly subscribers: readonly Subscriber[] },
): Promise<Latencies> {
  /** Each event, as the id of its order and the path of its subscriber. */
  const sent: string[] = [];
  const toCommitMs = await latenciesAtRate(
    async () => {
      const subscriber = subscribers[sent.length % subscribers.length];
      if (subscriber === undefined) throw new Failure('There are no subscribers.');
      const order = placedOrder(sent.length, subscriber.creatorId);
      sent.push(`${publicId('ord', order.id)} ${subscriber.path}`);
      await sender.commit([order]);
    },
    perSecond,
    2 * eachMs,
  );
  await receiver.waitForDeliveries(sent.length);
  const received = await receiver.take();
  const signed = new Set(
    received
      .filter((delivery) => delivery.signed)
      .map(({ envelope, path }) => `${envelope.data.order_id} ${path}`),
  );
  const missing = sent.filter((event) => !signed.has(event)).length;
  if (received.length !== sent.length || missing > 0)
    throw new Failure(
      `Expected one signed delivery for each of ${sent.length} events; received ${received.length}, and ${missing} events have none.`,
    );
  const toFirstByteMs = received.map(
    ({ arrivedAtMs, envelope }) => arrivedAtMs - Date.parse(envelope.created_at),
  );
  return { toFirstByteMs, toCommitMs };
}
