import { Failure } from '../../dev/failure.ts';
import type { BenchContext } from '../bench-context.ts';
import { figure, type Figure, median } from '../figures.ts';
import { latenciesAtRate, percentile } from '../fixed-rate.ts';
import { type Caller, comparisonFigures, measureInRounds, repeat } from '../rounds.ts';
import { ServedProcess } from '../served-process.ts';
import { createMigratedDatabase, type ServiceProcess } from '../service-process.ts';
import { Shop } from './shop-data.ts';
import { baselineRequests, callerCount, storeRequests, type StoreRequests } from './store-callers.ts';
import { addCatalogue, integrationToken, createStoreProcess } from './store-process.ts';

interface Comparison {
  readonly request: Exclude<keyof StoreRequests, 'close'>;
  readonly name: string;
  /** Minimum throughput, as a share of the bare server's. */
  readonly atLeast: number;
  /** Maximum p99 at half of the service's own rate. */
  readonly p99Ms?: number;
}

const comparisons: readonly Comparison[] = [
  { request: 'order', name: 'GET one order', atLeast: 0.65, p99Ms: 50 },
  { request: 'releases', name: 'GET releases page', atLeast: 0.5 },
  { request: 'placeOrder', name: 'POST order', atLeast: 0.75, p99Ms: 150 },
  { request: 'placeOrderAtOnce', name: 'POST order, with the baseline in one statement', atLeast: 0.2 },
  { request: 'orderLimited', name: 'POST order of one limited edition', atLeast: 0.5 },
  {
    request: 'takeLimited',
    name: 'POST order of one limited edition, with only the change of stock as the baseline',
    atLeast: 0.3,
  },
];

/** Compares store-api with a bare server that reads and writes the same rows. */
export async function benchStore(context: BenchContext): Promise<readonly Figure[]> {
  const store = await createStoreProcess(context, 'bench_store');
  const shop = await Shop.open(store.databaseUrl);
  try {
    const data = await context.step('Catalogue and orders', () => shop.addCatalogue());
    const startTime = await store.start();
    const requests = await storeRequests(store.origin, data, await integrationToken(store, data.creatorId));
    const figures = await compareWithBaseline(context, store, requests);
    await requests.close();
    const { missing, taken } = await shop.readLimitedStock();
    if (taken === 0 || missing !== taken)
      throw new Failure(
        `Orders took ${taken} pieces of the limited edition, but its stock fell by ${missing}.`,
      );
    return [...figures, startTime, ...store.memory()];
  } finally {
    await shop.close();
    await store.stop();
  }
}

async function compareWithBaseline(
  context: BenchContext,
  store: ServiceProcess,
  requests: StoreRequests,
): Promise<Figure[]> {
  const databaseUrl = await createMigratedDatabase(context, 'store-api', 'bench_store_bare');
  const data = await addCatalogue(databaseUrl);
  const bare = ServedProcess.script('store/bare-server.ts', { DATABASE_URL: databaseUrl });
  const bareRequests = baselineRequests(await bare.origin(), data);
  const figures: Figure[] = [];
  const latencies: Figure[] = [];
  try {
    for (const { request, name, atLeast, p99Ms } of comparisons)
      await context.step(name, async () => {
        const callersOf = (call: Caller): Caller[] => Array.from({ length: callerCount }, () => call);
        const rounds = await measureInRounds(
          [
            { name: 'bare', callers: callersOf(bareRequests[request]), server: bare },
            { name: 'store-api', callers: callersOf(requests[request]), server: store },
          ],
          context,
        );
        const pair = { numerator: 'store-api', denominator: 'bare' };
        figures.push(...comparisonFigures(`${name}, ratio to bare`, rounds, pair, { atLeast }));
        if (p99Ms === undefined) return;
        const perSecond = median((rounds['store-api'] ?? []).map((sample) => sample.perSecond)) / 2;
        const p99s = await repeat(context.rounds, async () =>
          percentile(await latenciesAtRate(requests[request], perSecond, context.eachMs), 0.99),
        );
        latencies.push(figure(`${name}, p99 at half of its own rate`, p99s, 'ms', { atMost: p99Ms }));
      });
    return [...figures, ...latencies];
  } finally {
    await bareRequests.close();
    await bare.stop();
  }
}
