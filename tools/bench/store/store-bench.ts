import { Pool } from 'undici';
import { z } from 'zod';
import { Failure } from '../../dev/failure.ts';
import type { BenchContext } from '../bench-context.ts';
import { figure, type Figure, median, type Target } from '../figures.ts';
import { latenciesAtRate, percentile } from '../fixed-rate.ts';
import { absoluteFigures, type Caller, measureInRounds, ratio, type Rounds } from '../rounds.ts';
import { ServedProcess } from '../served-process.ts';
import { createMigratedDatabase, type ServiceProcess } from '../service-process.ts';
import { bigCreator, Shop, smallCreator } from './shop-data.ts';
import {
  requestSender,
  callerCount,
  baselineRequests,
  storeRequests,
  type StoreRequests,
} from './store-callers.ts';
import { addCatalogue, integrationToken, createStoreProcess } from './store-process.ts';

const pageSchema = z.object({ pagination: z.object({ next_cursor: z.string().nullable() }) });
const smallCount = 1000;

type RequestName = Exclude<keyof StoreRequests, 'close'>;

/** A server under measurement, with requests to it. */
interface MeasuredServer {
  readonly requests: StoreRequests;
  readonly cpuMs: () => number | undefined;
}

/** Compares store-api with a bare server that runs the same SQL, and with itself with many orders. */
export async function benchStore(context: BenchContext): Promise<readonly Figure[]> {
  const store = await createStoreProcess(context, 'bench_store');
  const shop = await Shop.open(store.databaseUrl);
  try {
    const data = await context.step('Catalogue and orders', () => shop.addCatalogue());
    const ready = await store.start();
    const requests = await storeRequests(store.origin, data, await integrationToken(store, data.creatorId));
    const storeApi: MeasuredServer = { requests, cpuMs: () => store.process.cpuMs() };
    const figures = await compareWithBaseline(context, storeApi);
    const { missing, taken } = await shop.readLimitedStock();
    if (taken === 0 || missing !== taken)
      throw new Failure(
        `Orders took ${taken} pieces of the limited edition, but its stock fell by ${missing}.`,
      );
    figures.push(...(await compareWithManyOrders(context, store, shop, requests)));
    await requests.close();
    return [...figures, ready, ...store.memory()];
  } finally {
    await shop.close();
    await store.stop();
  }
}

async function compareWithBaseline(context: BenchContext, storeApi: MeasuredServer): Promise<Figure[]> {
  const databaseUrl = await createMigratedDatabase(context, 'store-api', 'bench_store_bare');
  const data = await addCatalogue(databaseUrl);
  const process = ServedProcess.script('store/bare-server.ts', { DATABASE_URL: databaseUrl });
  const bare: MeasuredServer = {
    requests: baselineRequests(await process.origin(), data),
    cpuMs: () => process.cpuMs(),
  };
  const compare = async (request: RequestName, name: string, target?: Target) => {
    const rounds = await measure(context, { bare, 'store-api': storeApi }, request);
    return {
      figures: [
        ratio(name, rounds, { of: 'store-api', to: 'bare' }, target),
        ...absoluteFigures(rounds, 'bare'),
        ...absoluteFigures(rounds, 'store-api'),
      ],
      perSecond: median((rounds['store-api'] ?? []).map(({ perSecond }) => perSecond)),
    };
  };
  try {
    const order = await context.step('GET one order', () =>
      compare('order', 'GET one order, ratio to bare', { atLeast: 0.55 }),
    );
    const releases = await context.step('GET releases', () =>
      compare('releases', 'GET releases page, ratio to bare', { atLeast: 0.5 }),
    );
    const placed = await context.step('POST order', () =>
      compare('placeOrder', 'POST order, ratio to bare', { atLeast: 0.7 }),
    );
    const atOnce = await context.step('POST order in one statement', () =>
      compare('placeOrderAtOnce', 'POST order, ratio to one bare statement that writes the same rows', {
        atLeast: 0.18,
      }),
    );
    const limited = await context.step('POST order of one limited edition', () =>
      compare('orderLimited', 'POST order of one limited edition, ratio to bare', { atLeast: 0.5 }),
    );
    // Without a target: a complete order on the bare server is also less than half as fast as this statement.
    const stockUpdate = await context.step('Update of the stock', () =>
      compare('updateLimitedStock', 'the same, ratio to only a bare update of the stock'),
    );
    const { requests } = storeApi;
    return [
      ...order.figures,
      ...releases.figures,
      ...placed.figures,
      ...atOnce.figures,
      ...limited.figures,
      ...stockUpdate.figures,
      ...(await context.step('Latency at half of these rates', async () => [
        await measureLatency(context, 'GET one order', requests.order, {
          perSecond: order.perSecond / 2,
          atMostMs: 50,
        }),
        await measureLatency(context, 'POST order', requests.placeOrder, {
          perSecond: placed.perSecond / 2,
          atMostMs: 150,
        }),
      ])),
    ];
  } finally {
    await bare.requests.close();
    await process.stop();
  }
}

async function measureLatency(
  context: BenchContext,
  name: string,
  call: Caller,
  { perSecond, atMostMs }: { readonly perSecond: number; readonly atMostMs: number },
): Promise<Figure> {
  const rounds: number[] = [];
  for (let round = 0; round < context.rounds; round += 1)
    rounds.push(percentile(await latenciesAtRate(call, perSecond, context.eachMs), 0.99));
  return figure(`${name}, p99 at half of its own rate`, rounds, 'ms', { atMost: atMostMs });
}

/** Measures lists and placing orders, for a creator with many orders and one with few. */
async function compareWithManyOrders(
  context: BenchContext,
  store: ServiceProcess,
  shop: Shop,
  requests: StoreRequests,
): Promise<Figure[]> {
  if (context.rowCount === 0) return [];
  const perSecondBefore = await requestsPerSecond(context, requests.placeOrder);
  const [big, small] = await Promise.all(
    [bigCreator, smallCreator].map((creator) => integrationToken(store, creator)),
  );
  // The oldest orders are added first, so that a cursor within them points to the last pages afterwards.
  const deepCursor = await context.step(`${context.rowCount} orders of one creator`, async () => {
    await shop.addOrders(smallCreator, smallCount, { newestAgeSeconds: 0 });
    await shop.addOrders(bigCreator, smallCount, { newestAgeSeconds: context.rowCount + 1_000_000 });
    const cursor = await cursorOf(store, big ?? '', `/store/v1/orders?limit=100`, 15);
    await shop.addOrders(bigCreator, context.rowCount, { newestAgeSeconds: 1_000_000 });
    return cursor;
  });
  const manyOrders = requestSender(store.origin, { authorization: `Bearer ${big}` });
  const fewOrders = requestSender(store.origin, { authorization: `Bearer ${small}` });
  const lists: Record<string, Caller> = {
    few: () => fewOrders('GET', '/store/v1/orders?limit=25', 200),
    first: () => manyOrders('GET', '/store/v1/orders?limit=25', 200),
    deep: () => manyOrders('GET', `/store/v1/orders?limit=25&cursor=${encodeURIComponent(deepCursor)}`, 200),
    status: () => manyOrders('GET', '/store/v1/orders?limit=25&status=shipped', 200),
    platform: () => manyOrders('GET', '/store/v1/orders?limit=25&platform=shop', 200),
    store_id: () => manyOrders('GET', '/store/v1/orders?limit=25&store_id=store-3', 200),
    external_order_id: () => manyOrders('GET', '/store/v1/orders?limit=25&external_order_id=external-5', 200),
  };
  const rounds = await context.step('Lists with many orders', () =>
    measureInRounds(
      Object.entries(lists).map(([name, call]) => ({ name, callers: Array(callerCount).fill(call) })),
      context,
    ),
  );
  const perSecondAfter = await context.step('POST order with many orders', () =>
    requestsPerSecond(context, requests.placeOrder),
  );
  await Promise.all([manyOrders.close(), fewOrders.close()]);
  return [
    ratio(
      'order list, last pages, ratio to the first page',
      rounds,
      { of: 'deep', to: 'first' },
      { atLeast: 1 / 1.5 },
    ),
    ratio(
      `order list of a creator with many orders, ratio to one with ${smallCount}`,
      rounds,
      { of: 'first', to: 'few' },
      { atLeast: 1 / 1.5 },
    ),
    ...['status', 'platform', 'store_id', 'external_order_id'].map((filter) =>
      ratio(
        `order list by ${filter}, ratio to the unfiltered list`,
        rounds,
        { of: filter, to: 'first' },
        { atLeast: 1 / 3 },
      ),
    ),
    figure(
      `POST order with ${context.rowCount} orders, ratio to before`,
      [perSecondAfter / perSecondBefore],
      'x',
      { atLeast: 1 / 1.2 },
    ),
  ];
}

async function requestsPerSecond(context: BenchContext, call: Caller): Promise<number> {
  const rounds = await measureInRounds(
    [{ name: 'request', callers: Array(callerCount).fill(call) }],
    context,
  );
  return median((rounds['request'] ?? []).map(({ perSecond }) => perSecond));
}

/** Returns the cursor after a number of pages. */
async function cursorOf(store: ServiceProcess, token: string, path: string, pages: number): Promise<string> {
  const pool = new Pool(store.origin);
  let cursor: string | null = null;
  for (let page = 1; page <= pages; page += 1) {
    const cursorParameter: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const response = await pool.request({
      method: 'GET',
      path: `${path}${cursorParameter}`,
      headers: { authorization: `Bearer ${token}` },
    });
    cursor = pageSchema.parse(await response.body.json()).pagination.next_cursor;
    if (cursor === null) throw new Failure(`The list ended after ${page} pages.`);
  }
  await pool.close();
  return cursor ?? '';
}

function measure(
  context: BenchContext,
  servers: Readonly<Record<string, MeasuredServer>>,
  request: RequestName,
): Promise<Rounds> {
  const variants = Object.entries(servers).map(([name, { requests, cpuMs }]) => ({
    name,
    callers: Array.from({ length: callerCount }, () => requests[request]),
    cpuMs,
  }));
  return measureInRounds(variants, context);
}
