import { Pool } from 'undici';
import { z } from 'zod';
import { Failure } from '../../dev/failure.ts';
import { type BenchSite, unlimited } from '../bench-site.ts';
import { figure, type Figure, median, type Target } from '../figures.ts';
import { latenciesAtRate, percentile } from '../fixed-rate.ts';
import { absolute, type Caller, measureInRounds, ratio, type Rounds } from '../rounds.ts';
import { ServedProcess } from '../served-process.ts';
import { migratedDatabase, ServiceProcess } from '../service-process.ts';
import { bigCreator, Shop, type ShopData, smallCreator } from './shop-data.ts';
import {
  requestSender,
  callerCount,
  baselineRequests,
  storeRequests,
  type StoreRequests,
} from './store-callers.ts';

const page = z.object({ pagination: z.object({ next_cursor: z.string().nullable() }) });
const smallCount = 1000;

type RequestName = Exclude<keyof StoreRequests, 'close'>;

interface Side {
  readonly requests: StoreRequests;
  readonly cpuMs: () => number | undefined;
}

/** Compares store-api with a bare server that runs the same SQL, and with itself with many orders. */
export async function benchStore(site: BenchSite): Promise<readonly Figure[]> {
  const store = await ServiceProcess.create(site, 'store-api', 'bench_store', () => ({
    REDIS_URL: `${site.stores.redis}?keyPrefix=bench_store:`,
    PAYMENT_PROVIDER: 'sandbox',
    RATE_LIMIT_ORDERS_CREATE: unlimited,
  }));
  const shop = await Shop.open(store.databaseUrl);
  try {
    const data = await site.step('Catalogue and orders', () => shop.furnish());
    const ready = await store.start();
    const requests = await storeRequests(store.origin, data, await tokenOf(store, data.creatorId));
    const ours: Side = { requests, cpuMs: () => store.process.cpuMs() };
    const figures = await compareWithBaseline(site, ours);
    const { lacking, taken } = await shop.hotSold();
    if (taken === 0 || lacking !== taken)
      throw new Failure(`Orders took ${taken} pieces of the hot edition, and its stock lacks ${lacking}.`);
    figures.push(...(await compareWithManyOrders(site, store, shop, requests)));
    await requests.close();
    return [...figures, ready, ...store.memory()];
  } finally {
    await shop.close();
    await store.stop();
  }
}

function tokenOf(store: ServiceProcess, creatorId: string): Promise<string> {
  return store.token({
    creator_id: creatorId,
    scope: 'orders:read orders:create releases:read shipping:read',
  });
}

async function compareWithBaseline(site: BenchSite, ours: Side): Promise<Figure[]> {
  const databaseUrl = await migratedDatabase(site, 'store-api', 'bench_store_bare');
  const shop = await Shop.open(databaseUrl);
  const data: ShopData = await shop.furnish();
  await shop.close();
  const process = ServedProcess.script('store/bare-server.ts', { DATABASE_URL: databaseUrl });
  const bare: Side = {
    requests: baselineRequests(await process.origin(), data),
    cpuMs: () => process.cpuMs(),
  };
  const compare = async (request: RequestName, name: string, target?: Target) => {
    const rounds = await measure(site, { bare, 'store-api': ours }, request);
    return {
      figures: [
        ratio(name, rounds, 'store-api', 'bare', target),
        ...absolute(rounds, 'bare'),
        ...absolute(rounds, 'store-api'),
      ],
      perSecond: median((rounds['store-api'] ?? []).map((part) => part.perSecond)),
    };
  };
  try {
    const order = await site.step('GET one order', () =>
      compare('order', 'GET one order, of bare', { atLeast: 0.55 }),
    );
    const releases = await site.step('GET releases', () =>
      compare('releases', 'GET releases page, of bare', { atLeast: 0.5 }),
    );
    const placed = await site.step('POST order', () =>
      compare('placeOrder', 'POST order, of bare', { atLeast: 0.7 }),
    );
    const atOnce = await site.step('POST order in one statement', () =>
      compare('placeOrderAtOnce', 'POST order, of the same rows in one bare statement', { atLeast: 0.18 }),
    );
    const hot = await site.step('One hot limited product', () =>
      compare('orderHot', 'POST order of one hot limited product, of bare', { atLeast: 0.5 }),
    );
    // Without a target: a whole order on the bare server is also less than half as fast as this statement.
    const update = await site.step('The guarded update of the stock alone', () =>
      compare('buyHot', 'the same, of nothing but a bare guarded update'),
    );
    const { requests } = ours;
    return [
      ...order.figures,
      ...releases.figures,
      ...placed.figures,
      ...atOnce.figures,
      ...hot.figures,
      ...update.figures,
      ...(await site.step('Latency at half of these rates', async () => [
        await latency(site, 'GET one order', requests.order, order.perSecond / 2, 50),
        await latency(site, 'POST order', requests.placeOrder, placed.perSecond / 2, 150),
      ])),
    ];
  } finally {
    await bare.requests.close();
    await process.stop();
  }
}

async function latency(
  site: BenchSite,
  name: string,
  call: Caller,
  perSecond: number,
  atMost: number,
): Promise<Figure> {
  const rounds: number[] = [];
  for (let round = 0; round < site.rounds; round += 1)
    rounds.push(percentile(await latenciesAtRate(call, perSecond, site.eachMs), 0.99));
  return figure(`${name}, p99 at half of its own rate`, rounds, 'ms', { atMost });
}

/** Measures lists and placing orders, for a creator with many orders and one with few. */
async function compareWithManyOrders(
  site: BenchSite,
  store: ServiceProcess,
  shop: Shop,
  requests: StoreRequests,
): Promise<Figure[]> {
  if (site.oldRows === 0) return [];
  const placedBefore = await requestsPerSecond(site, requests.placeOrder);
  const [big, small] = await Promise.all(
    [bigCreator, smallCreator].map((creator) => tokenOf(store, creator)),
  );
  // The oldest orders are added first, so that a cursor within them points to the last pages afterwards.
  const deepCursor = await site.step(`${site.oldRows} orders of one creator`, async () => {
    await shop.addOrders(smallCreator, smallCount, 0);
    await shop.addOrders(bigCreator, smallCount, site.oldRows + 1_000_000);
    const cursor = await cursorOf(store, big ?? '', `/store/v1/orders?limit=100`, 15);
    await shop.addOrders(bigCreator, site.oldRows, 1_000_000);
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
  const rounds = await site.step('Lists with many orders', () =>
    measureInRounds(
      Object.entries(lists).map(([name, call]) => ({ name, callers: Array(callerCount).fill(call) })),
      site,
    ),
  );
  const placedAfter = await site.step('POST order with many orders', () =>
    requestsPerSecond(site, requests.placeOrder),
  );
  await Promise.all([manyOrders.close(), fewOrders.close()]);
  return [
    ratio('order list, last pages, of the first page', rounds, 'deep', 'first', { atLeast: 1 / 1.5 }),
    ratio(`order list of a creator with many, of one with ${smallCount}`, rounds, 'first', 'few', {
      atLeast: 1 / 1.5,
    }),
    ...['status', 'platform', 'store_id', 'external_order_id'].map((filter) =>
      ratio(`order list by ${filter}, of the whole`, rounds, filter, 'first', { atLeast: 1 / 3 }),
    ),
    figure(`POST order with ${site.oldRows} orders, of without`, [placedAfter / placedBefore], 'x', {
      atLeast: 1 / 1.2,
    }),
  ];
}

async function requestsPerSecond(site: BenchSite, call: Caller): Promise<number> {
  const rounds = await measureInRounds([{ name: 'request', callers: Array(callerCount).fill(call) }], site);
  return median((rounds['request'] ?? []).map(({ perSecond }) => perSecond));
}

/** Returns the cursor after a number of pages. */
async function cursorOf(store: ServiceProcess, token: string, path: string, pages: number): Promise<string> {
  const pool = new Pool(store.origin);
  let cursor: string | null = null;
  for (let turned = 0; turned < pages; turned += 1) {
    const after: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const response = await pool.request({
      method: 'GET',
      path: `${path}${after}`,
      headers: { authorization: `Bearer ${token}` },
    });
    cursor = page.parse(await response.body.json()).pagination.next_cursor;
    if (cursor === null) throw new Failure(`The list ended after ${turned + 1} pages.`);
  }
  await pool.close();
  return cursor ?? '';
}

function measure(
  site: BenchSite,
  sides: Readonly<Record<string, Side>>,
  request: RequestName,
): Promise<Rounds> {
  const variants = Object.entries(sides).map(([name, { requests, cpuMs }]) => ({
    name,
    callers: Array.from({ length: callerCount }, () => requests[request]),
    cpuMs,
  }));
  return measureInRounds(variants, site);
}
