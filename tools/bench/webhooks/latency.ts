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
const deadCount = 200;
const backlogCount = 50_000;
const deadReceiversPerSecond = 50;

/**
 * Measures the time from event to first byte while a separate service commits events one by one at a fixed
 * rate. The time of an event is before its transaction begins, so each figure includes the commit, the outbox
 * relay, RabbitMQ, the fan-out and the lease. It ends when the receiver has read the head of the request.
 */
export async function benchLatency(
  site: BenchSite,
  of: DeliveringWorker,
  receiver: ReceiverProcess,
): Promise<Figure[]> {
  const sender = await FactsSender.start(site, of.worker.name, 'bench_webhooks_sender');
  try {
    const figures: Figure[] = [];
    for (const { perSecond, atMost } of rates) {
      const measure = () =>
        atRate(site, receiver, sender, { perSecond, to: of.subscribers }, (count) => of.alsoExpect(count));
      await measure(); // warm-up
      const rounds = await repeat(site.rounds, measure);
      await of.waitUntilSettled();
      figures.push(...percentiles(`event to first byte at ${perSecond}/s`, rounds, { atMost }));
    }
    return figures;
  } finally {
    await sender.stop();
  }
}

/**
 * Measures the same for a subscription whose receiver responds, among many with a backlog whose receiver
 * never responds. Does not delete those.
 */
export async function benchWithDeadReceivers(
  site: BenchSite,
  of: DeliveringWorker,
  receiver: ReceiverProcess,
): Promise<Figure[]> {
  const sender = await FactsSender.start(site, of.worker.name, 'bench_webhooks_sender');
  try {
    const dead: Subscriber[] = [];
    for (let number = 0; number < deadCount; number += 1)
      dead.push(await subscribe(of.worker, receiver.origin, `/dead/${number}`));
    const deadSubscriber = (index: number): Subscriber => dead[index % deadCount] ?? of.subscriberAt(0);
    await of.data.addBacklog(writtenEvents(await of.data.sampleBody(), backlogCount, deadSubscriber));
    await sender.commit(dead.map(({ creatorId }, index) => placedOrder(index, creatorId)));
    const good = { perSecond: deadReceiversPerSecond, to: [of.subscriberAt(0)] };
    const rounds = await repeat(site.rounds, () => atRate(site, receiver, sender, good, () => undefined));
    return percentiles(
      `a good subscription next to ${deadCount} dead ones with ${backlogCount} due`,
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
  /** From each event's time to its arrival, in ms. */
  readonly toFirstByte: readonly number[];
  /**
   * Until its transaction was answered, from when it was due: whether the machine could keep the rate at all.
   */
  readonly toCommit: readonly number[];
}

function percentiles(name: string, rounds: readonly AtRate[], target?: { atMost: number }): Figure[] {
  const of = (which: keyof AtRate, share: number): number[] =>
    rounds.map((round) => percentile(round[which], share));
  return [
    figure(`${name}, p50`, of('toFirstByte', 0.5), 'ms'),
    figure(`${name}, p99`, of('toFirstByte', 0.99), 'ms', target),
    figure('  their commits alone, from when they were due, p99', of('toCommit', 0.99), 'ms'),
  ];
}

/** One round: each event to the next of the subscribers. */
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

/** Whether it was among them. */
function takeFrom(sent: Map<string, string>, { envelope, path }: Received): boolean {
  const { order_id: id } = orderEvent.parse(envelope).data;
  return sent.get(id) === path && sent.delete(id);
}
