import { topologyOf } from '@fulfilment/contracts';
import { Failure } from '../../dev/failure.ts';
import { type BenchContext, unlimited } from '../bench-context.ts';
import { figure, type Figure, median } from '../figures.ts';
import { absoluteFigures, alternate, type Caller, ratio, type Rounds } from '../rounds.ts';
import { ServedProcess } from '../served-process.ts';
import { createMigratedDatabase, ServiceProcess } from '../service-process.ts';
import { requestSender } from '../store/store-callers.ts';
import { bigCreator, CreatorData, organisation, smallCount, smallCreator } from './creator-data.ts';
import { measureProjection, type Projector } from './projection.ts';

const dayMs = 86_400_000;

/**
 * Compares the projection of creator-api with that of a bare consumer, and the latency of requests for a
 * creator with many orders with that for a creator with few.
 */
export async function benchCreator(context: BenchContext): Promise<readonly Figure[]> {
  const creatorApi = await ServiceProcess.create(context, 'creator-api', 'bench_creator', () => ({
    RATE_LIMIT_STATS: unlimited,
  }));
  const data = await CreatorData.open(creatorApi.databaseUrl);
  try {
    const startTime = await context.step('creator-api', () => creatorApi.start());
    const queue = topologyOf('bench_creator').queue('creator-api.facts');
    const figures = await compareProjection(context, {
      name: 'creator-api',
      queue,
      data,
      server: creatorApi,
    });
    figures.push(...(await compareReads(context, creatorApi, data)));
    return [...figures, startTime, ...creatorApi.memory()];
  } finally {
    await data.close();
    await creatorApi.stop();
  }
}

/** Projects the same messages by creator-api and by the bare consumer. */
async function compareProjection(context: BenchContext, creatorApi: Projector): Promise<Figure[]> {
  const databaseUrl = await createMigratedDatabase(context, 'creator-api', 'bench_creator_bare');
  const data = await CreatorData.open(databaseUrl);
  const queue = 'bench_creator_bare';
  const server = ServedProcess.script('creator/bare-consumer.ts', {
    DATABASE_URL: databaseUrl,
    RABBITMQ_URL: context.stores.rabbitmq,
    BENCH_QUEUE: queue,
  });
  try {
    await server.waitForFirstLine();
    const projectors = [{ name: 'bare', queue, data, server }, creatorApi];
    const { created, paid } = await context.step('Projection', () => measureProjection(context, projectors));
    const rows = { bare: await data.countProjected(), creatorApi: await creatorApi.data.countProjected() };
    if (JSON.stringify(rows.bare) !== JSON.stringify(rows.creatorApi))
      throw new Failure(`The rows are not the same: ${JSON.stringify(rows)}`);
    return [...projectionFigures('new orders', created), ...projectionFigures('payments', paid)];
  } finally {
    await server.stop();
    await data.close();
  }
}

function projectionFigures(title: string, rounds: Rounds): Figure[] {
  const samples = rounds['creator-api'] ?? [];
  const perCpuSecond = samples.flatMap(({ cpuUs }) => (cpuUs === undefined ? [] : [1_000_000 / cpuUs]));
  return [
    ratio(
      `${title} projected, ratio to bare`,
      rounds,
      { numerator: 'creator-api', denominator: 'bare' },
      { atLeast: 0.5 },
    ),
    ...(perCpuSecond.length === 0
      ? []
      : [figure(`${title} projected per second of processor time`, perCpuSecond, '/s', { atLeast: 2_000 })]),
    figure(
      `${title} projected`,
      samples.map(({ perSecond }) => perSecond),
      '/s',
      { atLeast: 2_000 },
    ),
    ...absoluteFigures(rounds, 'bare'),
    ...absoluteFigures(rounds, 'creator-api'),
  ];
}

/** Measures reads for a creator with many orders and for one with few. */
async function compareReads(
  context: BenchContext,
  creatorApi: ServiceProcess,
  data: CreatorData,
): Promise<Figure[]> {
  if (context.rowCount === 0) return [];
  await context.step(`${context.rowCount} orders of one creator, ${smallCount} of another`, async () => {
    await data.addOrders(bigCreator, context.rowCount);
    await data.addOrders(smallCreator, smallCount);
    await data.vacuum();
  });
  const token = await creatorApi.token({ org_id: organisation, org_role: 'owner' });
  const send = requestSender(creatorApi.origin, { authorization: `Bearer ${token}` });
  // 40 days ago is always in an earlier month.
  const pastMonth = new Date(Date.now() - 40 * dayMs).toISOString().slice(0, 7);
  const api = '/creator/api/v1';
  const paths: Record<string, (id: string) => string> = {
    "a month's sales": (id) => `${api}/creators/${id}/stats/sales?period=${pastMonth}`,
    "a month's royalties": (id) => `${api}/creators/${id}/stats/royalties?period=${pastMonth}`,
    'orders, page 1': (id) => `${api}/orders?creator=${id}`,
    'orders of one status, page 1': (id) => `${api}/orders?creator=${id}&status=delivered`,
  };
  const figures: Figure[] = [];
  try {
    for (const [name, path] of Object.entries(paths)) {
      const big: Caller = () => send('GET', path(bigCreator), 200);
      const small: Caller = () => send('GET', path(smallCreator), 200);
      figures.push(...(await context.step(name, () => compareLatency(context, name, { big, small }))));
    }
  } finally {
    await send.close();
  }
  return figures;
}

/** Compares the p50 of a client's requests for the big creator and for the small one, alternately. */
async function compareLatency(
  context: BenchContext,
  name: string,
  { big, small }: { readonly big: Caller; readonly small: Caller },
): Promise<Figure[]> {
  const medians = await alternate(
    [
      { name: 'big', measure: () => medianMs(big, context.eachMs) },
      { name: 'small', measure: () => medianMs(small, context.eachMs) },
    ],
    context.rounds,
  );
  const { big: bigMs = [], small: smallMs = [] } = medians;
  const ratios = bigMs.map((ms, round) => ms / (smallMs[round] ?? Number.NaN));
  return [
    figure(`${name}, p50 with ${context.rowCount} orders`, bigMs, 'ms', { atMost: 10 }),
    figure(`${name}, p50, ratio to ${smallCount} orders`, ratios, 'x', { atMost: 2 }),
  ];
}

async function medianMs(call: Caller, durationMs: number): Promise<number> {
  const latenciesMs: number[] = [];
  const endsAtMs = performance.now() + durationMs;
  while (performance.now() < endsAtMs) {
    const startedAtMs = performance.now();
    await call();
    latenciesMs.push(performance.now() - startedAtMs);
  }
  return median(latenciesMs);
}
