import { topologyOf } from '@fulfilment/contracts';
import { connect } from 'amqplib';
import { Failure } from '../../dev/failure.ts';
import { type BenchSite, unlimited } from '../bench-site.ts';
import { CreatorData } from '../creator/creator-data.ts';
import { measureProjection, messagesPerPart } from '../creator/projection.ts';
import type { Figure } from '../figures.ts';
import { type Caller, measure, type Part } from '../rounds.ts';
import { ServiceProcess } from '../service-process.ts';
import { bigCreator, Shop } from '../store/shop-data.ts';
import { callerCount, requestSender, storeRequests } from '../store/store-callers.ts';
import { DeliveringWorker, deliveriesPerPart } from '../webhooks/delivering-worker.ts';
import { ReceiverProcess } from '../webhooks/receiver-process.ts';
import {
  comparePaths,
  type CountedPart,
  figuresOf,
  idlePages,
  pagesOf,
  perRequest,
  type Sizes,
} from './compare-sizes.ts';

const smallRows = 100_000;
const warmUpParts = 3;

/** Compares the hot paths of services with many rows with those of services with few. */
export async function benchGrowth(site: BenchSite): Promise<readonly Figure[]> {
  if (site.oldRows <= smallRows) throw new Failure(`--rows must be more than ${smallRows}.`);
  const benches = { 'store-api': orders, 'webhook-worker': deliveries, 'creator-api': ledgerLines };
  const figures: Figure[] = [];
  for (const [service, bench] of Object.entries(benches))
    if (site.service === undefined || site.service === service) figures.push(...(await bench(site)));
  return figures;
}

/** Prepares services with few rows and with many. */
async function forSizes<Result>(
  site: BenchSite,
  what: string,
  fill: (name: keyof Sizes<Result>, rows: number) => Promise<Result>,
): Promise<Sizes<Result>> {
  const small = await site.step(`${smallRows} ${what}`, () => fill('small', smallRows));
  return { small, large: await site.step(`${site.oldRows} ${what}`, () => fill('large', site.oldRows)) };
}

async function orders(site: BenchSite): Promise<Figure[]> {
  const sides = await forSizes(site, 'orders', async (name, rows) => {
    const store = await ServiceProcess.create(site, 'store-api', `bench_growth_orders_${name}`, () => ({
      REDIS_URL: `${site.stores.redis}?keyPrefix=bench_growth_${name}:`,
      PAYMENT_PROVIDER: 'sandbox',
      RATE_LIMIT_ORDERS_CREATE: unlimited,
    }));
    const database = await Shop.open(store.databaseUrl);
    const data = await database.furnish();
    await database.addOrders(bigCreator, rows, 1_000_000);
    await store.start();
    const scope = 'orders:read orders:create shipping:read';
    const token = await store.token({ creator_id: bigCreator, scope });
    const requests = await storeRequests(store.origin, data, token);
    const send = requestSender(store.origin, { authorization: `Bearer ${token}` });
    return { store, database, requests, send };
  });
  type Side = typeof sides.small;
  const paths: Readonly<Record<string, (side: Side) => Caller>> = {
    'GET one order': ({ requests }) => requests.order,
    'order list': (side) => () => side.send('GET', '/store/v1/orders?limit=25', 200),
    'order list by status': (side) => () => side.send('GET', '/store/v1/orders?limit=25&status=shipped', 200),
    // Last: the events of the orders are published for a while, which reads pages too.
    'POST order': ({ requests }) => requests.placeOrder,
  };
  const part =
    ({ store }: Side, call: Caller): CountedPart =>
    (count) => {
      const counted: Caller = () => call().then(() => count(1));
      const callers = Array.from({ length: callerCount }, () => counted);
      return measure({ callers, cpuMs: () => store.cpuMs() }, site.eachMs);
    };
  try {
    return await comparePaths(
      site,
      { small: sides.small.database, large: sides.large.database },
      Object.fromEntries(
        Object.entries(paths).map(([name, callerOf]) => [
          `${name} with ${site.oldRows} orders, of ${smallRows}`,
          {
            small: part(sides.small, callerOf(sides.small)),
            large: part(sides.large, callerOf(sides.large)),
          },
        ]),
      ),
    );
  } finally {
    for (const { store, database, requests, send } of [sides.small, sides.large]) {
      await Promise.all([requests.close(), send.close(), database.close()]);
      await store.stop();
    }
  }
}

async function deliveries(site: BenchSite): Promise<Figure[]> {
  const connection = await connect(site.stores.rabbitmq);
  const channel = await connection.createConfirmChannel();
  const receivers: ReceiverProcess[] = [];
  const sides = await forSizes(site, 'past deliveries', async (name, rows) => {
    const receiver = await ReceiverProcess.start();
    receivers.push(receiver);
    const worker = await DeliveringWorker.start(site, `bench_growth_${name}`, { receiver, channel });
    await worker.measureFromMessages();
    for (let part = 0; part < warmUpParts; part += 1) await worker.measureFromBacklog();
    await worker.data.addHistory(worker.subscribers, rows);
    await worker.data.analyse();
    return worker;
  });
  const part =
    (measureDeliveries: () => Promise<Part>): CountedPart =>
    (count) => {
      count(deliveriesPerPart);
      return measureDeliveries();
    };
  const { small, large } = sides;
  const ofRows = `with ${site.oldRows} of the past, of ${smallRows}`;
  try {
    return await comparePaths(
      site,
      { small: small.data, large: large.data },
      {
        [`deliveries of what is due ${ofRows}`]: {
          small: part(() => small.measureFromBacklog()),
          large: part(() => large.measureFromBacklog()),
        },
        [`deliveries from the message ${ofRows}`]: {
          small: part(() => small.measureFromMessages()),
          large: part(() => large.measureFromMessages()),
        },
      },
    );
  } finally {
    for (const receiver of receivers) await receiver.stop();
    for (const worker of [sides.small, sides.large]) await worker.stop();
    await connection.close();
  }
}

async function ledgerLines(site: BenchSite): Promise<Figure[]> {
  const sides = await forSizes(site, 'ledger lines', async (name, rows) => {
    const database = `bench_growth_ledger_${name}`;
    const creator = await ServiceProcess.create(site, 'creator-api', database, () => ({}));
    const data = await CreatorData.open(creator.databaseUrl);
    await data.addLedgerLines(rows);
    await creator.start();
    const queue = topologyOf(database).queue('creator-api.facts');
    return { creator, projector: { name, queue, data, process: creator.process } };
  });
  const data = { small: sides.small.projector.data, large: sides.large.projector.data };
  try {
    const reads = await idlePages(data);
    const { created, paid } = await site.step('Projection', () =>
      measureProjection(site, [sides.small.projector, sides.large.projector]),
    );
    const after = await pagesOf(data);
    const messages = 2 * (site.rounds + 1) * messagesPerPart;
    const pages = perRequest({ ...reads, after }, { small: messages, large: messages });
    const ofRows = `with ${site.oldRows} ledger lines, of ${smallRows}`;
    return [
      ...figuresOf(`new orders projected ${ofRows}`, created),
      ...figuresOf(`payments posted ${ofRows}`, paid, pages),
    ];
  } finally {
    for (const { creator, projector } of [sides.small, sides.large]) {
      await projector.data.close();
      await creator.stop();
    }
  }
}
