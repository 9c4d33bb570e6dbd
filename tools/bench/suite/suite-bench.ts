import { orderStations, simulateOrders } from '../../capacity/simulate-orders.ts';
import { Failure } from '../../dev/failure.ts';
import { treeCpuMs } from '../../dev/supervisor/process-tree.ts';
import type { BenchContext } from '../bench-context.ts';
import { figure, type Figure, median, type Target } from '../figures.ts';
import { latenciesAtRate, percentile } from '../fixed-rate.ts';
import { callerCount } from '../store/store-callers.ts';
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

/** A hundredth of the drop that docs/capacity.md plans for: 200 orders a second of one SKU. */
const dropPerSecond = 2;
const dropMs = 30_000;
/** One of this many orders is read from the Creator API. */
const ordersPerRead = 20;
/** Orders a second that one limited edition can take: the default of `npm run -s tools -- capacity`. */
const skuOrdersPerSecond = 400;

interface Round {
  readonly perSecond: number;
  readonly latenciesMs: readonly number[];
  readonly cpuMsPerOrder: Partial<Record<ProcessName, number>>;
  /** Times from the response to the webhook's first byte; negative if the webhook was faster. */
  readonly webhookMs: readonly number[];
}

/** A round at half of the full rate. All times but `latenciesMs` start at the response. */
interface HalfRateRound extends Pick<Round, 'latenciesMs' | 'webhookMs'> {
  /** Times to the first read in the Creator API that has the order. */
  readonly creatorMs: readonly number[];
  /** Times to the event in the stream of orders. */
  readonly streamMs: readonly number[];
}

/**
 * Measures orders through TLS, gateway and all services: each is delivered as a webhook and projected into
 * the Creator API. The figures are absolute, because no other suite serves as a baseline.
 */
export async function benchSuite(context: BenchContext): Promise<readonly Figure[]> {
  const stack = await context.suite.startAll();
  const integration = await Integration.open(stack);
  try {
    const measureRound = () => measureFullRate(context, integration);
    const rounds = await context.step(`${callerCount} callers`, async () => {
      await measureRound(); // warm-up
      return repeat(context.rounds, measureRound);
    });
    const halfRatePerSecond = median(membersOf(rounds, 'perSecond')) / 2;
    const halved = await context.step(`${halfRatePerSecond.toFixed(0)} orders a second`, () =>
      withStream(integration, (stream) =>
        repeat(context.rounds, async () => {
          const round = await measureFixedRate(context, integration, halfRatePerSecond);
          return { ...round, streamMs: await stream.delaysMs(round.orders) };
        }),
      ),
    );
    await integration.switchToLimitedEdition((dropPerSecond * dropMs) / 1000);
    const drop = await context.step(`${dropPerSecond} orders a second of one limited edition`, () =>
      measureFixedRate({ ...context, eachMs: dropMs }, integration, dropPerSecond),
    );
    return [
      figure(`orders, ${callerCount} callers`, membersOf(rounds, 'perSecond'), '/s'),
      ...latencyFigures('  response', membersOf(rounds, 'latenciesMs')),
      ...latencyFigures("  from the response to the webhook's first byte", membersOf(rounds, 'webhookMs')),
      ...processorTimeFigures(rounds),
      ...halfRateFigures(halved),
      ...latencyFigures('a drop at 1/100, response', [drop.latenciesMs]),
      ...latencyFigures('  as `capacity` predicts', [predictedMs(rounds)]),
    ];
  } finally {
    await integration.close();
  }
}

/** Measures one round of callers that send an order after each response. */
async function measureFullRate({ suite, eachMs }: BenchContext, integration: Integration): Promise<Round> {
  const before = processorTimesMs(suite);
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
  const webhookMs = await integration.webhookDelaysMs(orders);
  await integration.waitUntilProjected(orders);
  const after = processorTimesMs(suite);
  const cpuMsPerOrder = Object.fromEntries(
    measuredProcesses.flatMap((name) => {
      const [from, to] = [before.get(name), after.get(name)];
      return from === undefined || to === undefined ? [] : [[name, (to - from) / orders.length]];
    }),
  );
  return { perSecond, latenciesMs, cpuMsPerOrder, webhookMs };
}

/** Measures one round of orders at a fixed rate. Reads some of the orders from the Creator API. */
async function measureFixedRate({ eachMs }: BenchContext, integration: Integration, perSecond: number) {
  const orders: PlacedOrder[] = [];
  const delays: Promise<number>[] = [];
  const latenciesMs = await latenciesAtRate(
    async () => {
      const order = await integration.placeOrder();
      orders.push(order);
      if (orders.length % ordersPerRead !== 1) return;
      const delay = integration.creatorDelayMs(order);
      delay.catch(() => undefined); // `Promise.all` rejects with it at the end
      delays.push(delay);
    },
    perSecond,
    eachMs,
  );
  const creatorMs = await Promise.all(delays);
  const webhookMs = await integration.webhookDelaysMs(orders);
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

/** The response times of the drop that the simulation predicts from the processor times of this run. */
function predictedMs(rounds: readonly Round[]): readonly number[] {
  const cpuMs = (name: ProcessName): number =>
    median(rounds.map(({ cpuMsPerOrder }) => cpuMsPerOrder[name] ?? Number.NaN));
  const stations = orderStations({
    storeApiMs: cpuMs('store-api'),
    postgresMs: cpuMs('postgres'),
    serviceCores: 1, // one replica, which is one Node process
    databaseCores: 2, // those of the machine of docs/capacity.md
    skuOrdersPerSecond,
  });
  return simulateOrders(stations, dropPerSecond).latenciesMs;
}

function processorTimesMs(suite: BenchContext['suite']): Map<string, number> {
  return new Map(
    suite.status().flatMap(({ name, pid }) => {
      const cpuMs = pid === null ? undefined : treeCpuMs(pid);
      return cpuMs === undefined ? [] : [[name, cpuMs]];
    }),
  );
}

function processorTimeFigures(rounds: readonly Round[]): Figure[] {
  return measuredProcesses.flatMap((name) => {
    const times = rounds.flatMap(({ cpuMsPerOrder }) => cpuMsPerOrder[name] ?? []);
    return times.length === 0 ? [] : [figure(`  ${name}, processor time per order`, times, 'ms')];
  });
}

function halfRateFigures(rounds: readonly HalfRateRound[]): Figure[] {
  const condition = 'at half of that rate';
  return [
    ...latencyFigures(`${condition}, response`, membersOf(rounds, 'latenciesMs')),
    ...latencyFigures(
      `${condition}, from the response to the webhook's first byte`,
      membersOf(rounds, 'webhookMs'),
    ),
    ...latencyFigures(
      `${condition}, from the response to the Creator API's read`,
      membersOf(rounds, 'creatorMs'),
    ),
    ...latencyFigures(
      `${condition}, from the response to the event in the stream of orders`,
      membersOf(rounds, 'streamMs'),
      { atMost: 1000 },
    ),
  ];
}

function latencyFigures(name: string, rounds: readonly (readonly number[])[], target?: Target): Figure[] {
  if (rounds.some(({ length }) => length === 0)) throw new Failure(`Nothing was measured: ${name}.`);
  return [0.5, 0.99].map((share) =>
    figure(
      `${name}, p${share * 100}`,
      rounds.map((values) => percentile(values, share)),
      'ms',
      target,
    ),
  );
}

function membersOf<Row, Key extends keyof Row>(rows: readonly Row[], key: Key): Row[Key][] {
  return rows.map((row) => row[key]);
}
