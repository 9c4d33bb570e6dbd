import { topologyOf } from '@fulfilment/contracts';
import { Failure } from '../../dev/failure.ts';
import { type BenchSite, unlimited } from '../bench-site.ts';
import { figure, type Figure, median } from '../figures.ts';
import { absolute, type Caller, ratio, type Rounds } from '../rounds.ts';
import { ServedProcess } from '../served-process.ts';
import { migratedDatabase, ServiceProcess } from '../service-process.ts';
import { requestSender } from '../store/store-callers.ts';
import { bigCreator, CreatorData, organisation, smallCount, smallCreator } from './creator-data.ts';
import { measureProjection, type Projector } from './projection.ts';

/**
 * Compares the Creator API with a bare consumer that writes the same rows, and a creator with many orders
 * with a creator with few.
 */
export async function benchCreator(site: BenchSite): Promise<readonly Figure[]> {
  const creator = await ServiceProcess.create(site, 'creator-api', 'bench_creator', () => ({
    RATE_LIMIT_STATS: unlimited,
  }));
  const data = await CreatorData.open(creator.databaseUrl);
  try {
    const ready = await site.step('creator-api', () => creator.start());
    const queue = topologyOf('bench_creator').queue('creator-api.facts');
    const figures = await projection(site, { name: 'creator-api', queue, data, process: creator.process });
    figures.push(...(await reading(site, creator, data)));
    return [...figures, ready, ...creator.memory()];
  } finally {
    await data.close();
    await creator.stop();
  }
}

async function projection(site: BenchSite, ours: Projector): Promise<Figure[]> {
  const databaseUrl = await migratedDatabase(site, 'creator-api', 'bench_creator_bare');
  const data = await CreatorData.open(databaseUrl);
  const queue = 'bench_creator_bare';
  const process = ServedProcess.script('creator/bare-consumer.ts', {
    DATABASE_URL: databaseUrl,
    RABBITMQ_URL: site.stores.rabbitmq,
    BENCH_QUEUE: queue,
  });
  try {
    await process.firstLine();
    const projectors = [{ name: 'bare', queue, data, process }, ours];
    const { created, paid } = await site.step('Projection', () => measureProjection(site, projectors));
    const [bareRows, ourRows] = await Promise.all([data.projected(), ours.data.projected()]);
    if (JSON.stringify(bareRows) !== JSON.stringify(ourRows))
      throw new Failure(`The rows are not the same: ${JSON.stringify({ bareRows, ourRows })}`);
    return [...compared('new orders', created), ...compared('payments', paid)];
  } finally {
    await process.stop();
    await data.close();
  }
}

function compared(what: string, rounds: Rounds): Figure[] {
  const ours = rounds['creator-api'] ?? [];
  const perCore = ours.flatMap(({ cpuUs }) => (cpuUs === undefined ? [] : [1_000_000 / cpuUs]));
  return [
    ratio(`${what} projected, of bare`, rounds, 'creator-api', 'bare', { atLeast: 0.5 }),
    ...(perCore.length === 0
      ? []
      : [figure(`${what} projected, a second of its processor time`, perCore, '/s', { atLeast: 2_000 })]),
    figure(
      `${what} projected`,
      ours.map(({ perSecond }) => perSecond),
      '/s',
      { atLeast: 2_000 },
    ),
    ...absolute(rounds, 'bare'),
    ...absolute(rounds, 'creator-api'),
  ];
}

async function reading(site: BenchSite, creator: ServiceProcess, data: CreatorData): Promise<Figure[]> {
  if (site.oldRows === 0) return [];
  await site.step(`${site.oldRows} orders of one creator, ${smallCount} of another`, async () => {
    await data.addOrders(bigCreator, site.oldRows);
    await data.addOrders(smallCreator, smallCount);
    await data.settle();
  });
  const token = await creator.token({ org_id: organisation, org_role: 'owner' });
  const send = requestSender(creator.origin, { authorization: `Bearer ${token}` });
  const lastMonth = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 7);
  const api = '/creator/api/v1';
  const questions: Record<string, (id: string) => string> = {
    "a month's sales": (id) => `${api}/creators/${id}/stats/sales?period=${lastMonth}`,
    "a month's royalties": (id) => `${api}/creators/${id}/stats/royalties?period=${lastMonth}`,
    'orders, page 1': (id) => `${api}/orders?creator=${id}`,
    'orders of one status, page 1': (id) => `${api}/orders?creator=${id}&status=delivered`,
  };
  const figures: Figure[] = [];
  for (const [name, path] of Object.entries(questions)) {
    const call =
      (id: string): Caller =>
      () =>
        send('GET', path(id), 200);
    figures.push(...(await site.step(name, () => side(site, name, call(bigCreator), call(smallCreator)))));
  }
  await send.close();
  return figures;
}

/** p50 of one client, for the large and the small creator in alternation. */
async function side(site: BenchSite, name: string, big: Caller, small: Caller): Promise<Figure[]> {
  const rounds: { big: number; small: number }[] = [];
  for (let round = -1; round < site.rounds; round += 1) {
    const one = { big: await medianMs(big, site.eachMs), small: await medianMs(small, site.eachMs) };
    if (round >= 0) rounds.push(one);
  }
  const bigCreatorMs = rounds.map((round) => round.big);
  const ratios = rounds.map((round) => round.big / round.small);
  return [
    figure(`${name}, p50 with ${site.oldRows} orders`, bigCreatorMs, 'ms', { atMost: 10 }),
    figure(`${name}, p50 of that with ${smallCount}`, ratios, 'x', { atMost: 2 }),
  ];
}

async function medianMs(call: Caller, forMs: number): Promise<number> {
  const latencies: number[] = [];
  const endsAt = performance.now() + forMs;
  while (performance.now() < endsAt) {
    const startedAt = performance.now();
    await call();
    latencies.push(performance.now() - startedAt);
  }
  return median(latencies);
}
