import { orderStations, simulateOrders } from '../../capacity/drop-day.ts';
import { Failure } from '../../dev/failure.ts';
import type { BenchSite } from '../bench-site.ts';
import { figure, type Figure, median, type Target } from '../figures.ts';
import { latenciesAtRate, percentile } from '../fixed-rate.ts';
import { callerCount } from '../store/store-callers.ts';
import { ReceiverProcess } from '../webhooks/receiver-process.ts';
import { treeCpuMs } from '../process-times.ts';
import { repeat } from '../rounds.ts';
import { Integration, type PlacedOrder } from './integration.ts';
import type { StreamedOrders } from './streamed-orders.ts';

/** Processes whose processor time is reported, in the order in which they handle an order. */
const measuredProcesses = [
  'gateway',
  'store-api',
  'webhook-worker',
  'creator-api',
  'postgres',
  'redis',
  'rabbitmq',
] as const;
type ProcessName = (typeof measuredProcesses)[number];

/** A hundredth of the drop day that docs/capacity.md plans for: 200 orders a second of one SKU. */
const dropDayPerSecond = 2;
const dropDayMs = 30_000;
/** Orders a second of one limited edition that `capacity` assumes. */
const skuOrders = 400;

interface Round {
  readonly perSecond: number;
  readonly latenciesMs: readonly number[];
  readonly cpuMsPerOrder: Partial<Record<ProcessName, number>>;
  /** Times from the response to the webhook's first byte; negative if the webhook was faster. */
  readonly webhookMs: readonly number[];
}

/**
 * Measures orders through TLS, gateway and all services: each is delivered as a webhook and projected into
 * the Creator API. The figures are absolute, because no other suite serves as a baseline.
 */
export async function benchSuite(site: BenchSite): Promise<readonly Figure[]> {
  const stack = await site.suite.startAll();
  const receiver = await ReceiverProcess.start();
  const integration = await Integration.open(stack, receiver);
  try {
    const round = () => fullRate(site, integration);
    const rounds = await site.step(`${callerCount} callers`, async () => {
      await round(); // warm-up
      return repeat(site.rounds, round);
    });
    const halfRate = median(rounds.map(({ perSecond }) => perSecond)) / 2;
    const halved = await site.step(`${halfRate.toFixed(0)} orders a second`, () =>
      withStream(integration, (stream) =>
        repeat(site.rounds, async () => {
          const orders = await fixedRate(site, integration, halfRate);
          return { ...orders, streamMs: await stream.delays(orders.orders) };
        }),
      ),
    );
    await integration.orderLimitedEdition((dropDayPerSecond * dropDayMs) / 1000);
    const dropDay = await site.step(`${dropDayPerSecond} orders a second of one limited edition`, () =>
      fixedRate({ ...site, eachMs: dropDayMs }, integration, dropDayPerSecond),
    );
    return [
      figure(
        `orders, ${callerCount} callers`,
        rounds.map(({ perSecond }) => perSecond),
        '/s',
      ),
      ...latencyFigures(
        '  response',
        rounds.map(({ latenciesMs }) => latenciesMs),
      ),
      ...latencyFigures(
        "  from the response to the webhook's first byte",
        rounds.map(({ webhookMs }) => webhookMs),
      ),
      ...processorTimes(rounds),
      ...latencyFigures(
        'at half of that rate, response',
        halved.map(({ latenciesMs }) => latenciesMs),
      ),
      ...latencyFigures(
        "at half of that rate, from the response to the webhook's first byte",
        halved.map(({ webhookMs }) => webhookMs),
      ),
      ...latencyFigures(
        "at half of that rate, from the response to the Creator API's read",
        halved.map(({ creatorMs }) => creatorMs),
      ),
      ...latencyFigures(
        'at half of that rate, from the response to the event in the stream of orders',
        halved.map(({ streamMs }) => streamMs),
        { atMost: 1000 },
      ),
      ...latencyFigures('a drop day at 1/100, response', [dropDay.latenciesMs]),
      ...latencyFigures('  as `capacity` predicts', [predictedMs(rounds)]),
    ];
  } finally {
    await integration.close();
    await receiver.stop();
  }
}

/** One round of callers that each wait for their response. */
async function fullRate({ suite, eachMs }: BenchSite, integration: Integration): Promise<Round> {
  const before = processorTimeOf(suite);
  const startedAtMs = performance.now();
  const orders: PlacedOrder[] = [];
  const latenciesMs: number[] = [];
  await Promise.all(
    Array.from({ length: callerCount }, async () => {
      while (performance.now() - startedAtMs < eachMs) {
        const sentAtMs = performance.now();
        orders.push(await integration.placeOrder());
        latenciesMs.push(performance.now() - sentAtMs);
      }
    }),
  );
  const perSecond = (orders.length * 1000) / (performance.now() - startedAtMs);
  const webhookMs = await integration.webhookDelays(orders);
  await integration.waitUntilProjected(orders);
  const after = processorTimeOf(suite);
  const cpuMsPerOrder = Object.fromEntries(
    measuredProcesses.flatMap((name) => {
      const [from, to] = [before.get(name), after.get(name)];
      return from === undefined || to === undefined ? [] : [[name, (to - from) / orders.length]];
    }),
  );
  return { perSecond, latenciesMs, cpuMsPerOrder, webhookMs };
}

/** One round of orders at a fixed rate. One order in twenty is followed into the Creator API. */
async function fixedRate({ eachMs }: BenchSite, integration: Integration, perSecond: number) {
  const orders: PlacedOrder[] = [];
  const creatorMs: number[] = [];
  const following: Promise<void>[] = [];
  const latenciesMs = await latenciesAtRate(
    async () => {
      const order = await integration.placeOrder();
      orders.push(order);
      if (orders.length % 20 === 1)
        following.push(integration.creatorDelay(order).then((delayMs) => void creatorMs.push(delayMs)));
    },
    perSecond,
    eachMs,
  );
  await Promise.all(following);
  const webhookMs = await integration.webhookDelays(orders);
  return { orders, latenciesMs, webhookMs, creatorMs };
}

async function withStream<Result>(
  integration: Integration,
  work: (stream: StreamedOrders) => Promise<Result>,
): Promise<Result> {
  const stream = await integration.streamOrders();
  try {
    return await work(stream);
  } finally {
    stream.close();
  }
}

/** The response times of the drop day that the simulation predicts from the processor times of this run. */
function predictedMs(rounds: readonly Round[]): readonly number[] {
  const cpuMs = (name: ProcessName): number =>
    median(rounds.map(({ cpuMsPerOrder }) => cpuMsPerOrder[name] ?? Number.NaN));
  const stations = orderStations({
    ...{ storeApiMs: cpuMs('store-api'), postgresMs: cpuMs('postgres') },
    ...{ serviceCores: 1, databaseCores: 2, skuOrders },
  });
  return simulateOrders(stations, dropDayPerSecond).sojournsMs;
}

function processorTimeOf(suite: BenchSite['suite']): Map<string, number> {
  return new Map(
    suite.status().flatMap(({ name, pid }) => {
      const cpuMs = pid === null ? undefined : treeCpuMs(pid);
      return cpuMs === undefined ? [] : [[name, cpuMs]];
    }),
  );
}

function processorTimes(rounds: readonly Round[]): Figure[] {
  return measuredProcesses.flatMap((name) => {
    const times = rounds.flatMap(({ cpuMsPerOrder }) => cpuMsPerOrder[name] ?? []);
    return times.length === 0 ? [] : [figure(`  ${name}, its processor time an order`, times, 'ms')];
  });
}

function latencyFigures(name: string, rounds: readonly (readonly number[])[], target?: Target): Figure[] {
  if (rounds.some(({ length }) => length === 0)) throw new Failure(`There are no values of: ${name}.`);
  return [0.5, 0.99].map((share) =>
    figure(
      `${name}, p${share * 100}`,
      rounds.map((values) => percentile(values, share)),
      'ms',
      target,
    ),
  );
}
