import { publicId } from '@fulfilment/contracts';
import { Failure } from '../../dev/failure.ts';
import type { BenchSite } from '../bench-site.ts';
import type { Figure } from '../figures.ts';
import { type DeliveringWorker, subscribe } from './delivering-worker.ts';
import { FactsSender } from './facts-sender.ts';
import { atRate, percentiles, repeat } from './latency.ts';
import type { ReceiverProcess } from './receiver-process.ts';
import type { Subscriber } from './webhook-data.ts';

const readerCount = 12;
const perSecond = 50;
const since = '2020-01-01T00:00:00Z';
const filters = [
  '',
  '?status=failed',
  '?status=succeeded',
  '?event=order.created',
  '?test=true',
  '?status=held',
];
/** Of how many deliveries one failed, in the order in which they are made to fail. */
const shares = [
  { name: 'no', each: undefined },
  { name: 'few', each: 10_000 },
  { name: 'many', each: 2 },
];
const expected = new Set([200, 202, 429, 503]);

/**
 * Webhooks of one tenant while another one reads a long history by many readers and recovers it in a loop.
 * Leaves the history behind.
 */
export async function benchDuringReads(
  site: BenchSite,
  of: DeliveringWorker,
  receiver: ReceiverProcess,
): Promise<Figure[]> {
  const sender = await FactsSender.start(site, of.worker.name, 'bench_webhooks_sender');
  try {
    const noisy = await subscribe(of.worker, receiver.origin, '/dead/history');
    await of.data.addSubscriptionHistory(noisy, site.oldRows);
    const figures: Figure[] = [];
    for (const { name, each } of shares) {
      if (each !== undefined) await of.data.failEveryNth(noisy, each);
      await of.data.analyse();
      const noise = makeNoise(of, noisy);
      try {
        const quiet = { perSecond, to: [of.subscriberAt(0)] };
        const rounds = await repeat(site.rounds, () =>
          atRate(site, receiver, sender, quiet, () => undefined),
        );
        const title = `a subscription beside ${readerCount} readers and a loop of recoveries of another one's ${site.oldRows} deliveries, ${name} failed`;
        figures.push(...percentiles(title, rounds, { atMost: 1_000 }));
      } finally {
        await noise.stop();
      }
    }
    return figures;
  } finally {
    await sender.stop();
  }
}

function makeNoise({ worker }: DeliveringWorker, { creatorId, subscriptionId }: Subscriber) {
  let stopping = false;
  const id = publicId('whk', subscriptionId);
  const loop = async (call: (token: string, round: number) => Promise<number>): Promise<void> => {
    const token = await worker.token(creatorId);
    for (let round = 0; !stopping; round += 1) {
      const status = await call(token, round);
      if (!expected.has(status)) throw new Failure(`A request of the other tenant gave ${status}.`);
    }
  };
  const loops = Promise.all([
    ...Array.from({ length: readerCount }, (_, reader) =>
      loop((token, round) =>
        worker.call(token, 'GET', `${id}/deliveries${filters[(reader + round) % filters.length]}`),
      ),
    ),
    loop((token) => worker.call(token, 'POST', `${id}/recover`, { since })),
  ]);
  loops.catch(() => undefined); // thrown by `stop`
  return {
    stop: async (): Promise<void> => {
      stopping = true;
      await loops;
    },
  };
}
