import { publicId } from '@fulfilment/contracts';
import { z } from 'zod';
import { Failure } from '../../dev/failure.ts';
import type { BenchSite } from '../bench-site.ts';
import { figure, type Figure } from '../figures.ts';
import { latenciesAtRate, percentile } from '../fixed-rate.ts';
import { placedOrder } from '../placed-order.ts';
import { type DeliveringWorker, subscribe, writtenEvents } from './delivering-worker.ts';
import { FactsSender } from './facts-sender.ts';
import type { Received, ReceiverProcess } from './receiver-process.ts';
import type { Subscriber } from './webhook-data.ts';

const orderEvent = z.object({ data: z.object({ order_id: z.string() }) });
const rates = [200, 500, 1_000];
const targetRate = 500;
const deadCount = 200;
const backlogCount = 50_000;
const besideDeadPerSecond = 50;

/**
 * From event to first byte while events are committed at a fixed rate, one by one, by a service of their own. An event's time is taken before its transaction begins, so each
 * figure holds that commit, the outbox relay, RabbitMQ, the fan-out and the lease. It ends when the receiver has read the request's head.
 */
export async function benchLatency(
  site: BenchSite,
  of: DeliveringWorker,
  receiver: ReceiverProcess,
): Promise<Figure[]> {
  const sender = await FactsSender.start(site, of.worker.name, 'bench_webhooks_sender');
  try {
    const measure = (perSecond: number) =>
      atRate(site, receiver, sender, { perSecond, to: of.subscribers }, (count) => of.alsoExpect(count));
    await measure(targetRate); // what runs for the first time is compiled
    const figures: Figure[] = [];
    for (const perSecond of rates) {
      const rounds: number[][] = [];
      for (let round = 0; round < site.rounds; round += 1) rounds.push(await measure(perSecond));
      const target = perSecond === targetRate ? { atMost: 150 } : undefined;
      figures.push(...percentiles(`event to first byte at ${perSecond}/s`, rounds, target));
    }
    await of.untilSettled();
    return figures;
  } finally {
    await sender.stop();
  }
}

/** The same of a good subscription beside many whose receiver never answers, and which have a backlog. Leaves these behind. */
export async function benchBesideDead(
  site: BenchSite,
  of: DeliveringWorker,
  receiver: ReceiverProcess,
): Promise<Figure[]> {
  const sender = await FactsSender.start(site, of.worker.name, 'bench_webhooks_sender');
  try {
    const dead: Subscriber[] = [];
    for (let number = 0; number < deadCount; number += 1)
      dead.push(await subscribe(of.worker, receiver.origin, `/dead/${number}`));
    const deadOne = (index: number): Subscriber => dead[index % deadCount] ?? of.subscriberOf(0);
    await of.data.addBacklog(writtenEvents(await of.data.oneBody(), backlogCount, deadOne));
    await sender.commit(dead.map(({ creatorId }, index) => placedOrder(index, creatorId)));
    const good = { perSecond: besideDeadPerSecond, to: [of.subscriberOf(0)] };
    const rounds: number[][] = [];
    for (let round = 0; round < site.rounds; round += 1)
      rounds.push(await atRate(site, receiver, sender, good, () => undefined));
    return percentiles(`a good subscription beside ${deadCount} dead ones with ${backlogCount} due`, rounds, {
      atMost: 1_000,
    });
  } finally {
    await sender.stop();
  }
}

function percentiles(name: string, rounds: readonly number[][], target?: { atMost: number }): Figure[] {
  const of = (share: number): number[] => rounds.map((latencies) => percentile(latencies, share));
  return [figure(`${name}, p50`, of(0.5), 'ms'), figure(`${name}, p99`, of(0.99), 'ms', target)];
}

/** One round: each event to the next of the subscribers, from its time to its arrival, in ms. */
async function atRate(
  { eachMs }: BenchSite,
  receiver: ReceiverProcess,
  sender: FactsSender,
  { perSecond, to }: { readonly perSecond: number; readonly to: readonly Subscriber[] },
  onCommitted: (count: number) => void,
): Promise<number[]> {
  const sent = new Map<string, string>();
  await latenciesAtRate(
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
  await receiver.when(sent.size);
  const received = await receiver.take();
  onCommitted(sent.size);
  if (received.length !== sent.size || !received.every((one) => one.signed && takeFrom(sent, one)))
    throw new Failure(`Of ${sent.size} events, ${received.length} deliveries came, or not the right ones.`);
  return received.map(({ arrivedAtMs, envelope }) => arrivedAtMs - Date.parse(envelope.created_at));
}

/** Whether it was among them. */
function takeFrom(sent: Map<string, string>, { envelope, path }: Received): boolean {
  const { order_id: id } = orderEvent.parse(envelope).data;
  return sent.get(id) === path && sent.delete(id);
}
