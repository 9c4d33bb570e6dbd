import { type Message, messages, topologyOf } from '@fulfilment/contracts';
import { type ConfirmChannel, connect } from 'amqplib';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../dev/failure.ts';
import type { BenchContext } from '../bench-context.ts';
import { figure, type Figure } from '../figures.ts';
import { alternate, measurePrepared, type Sample } from '../rounds.ts';
import type { ServiceProcess } from '../service-process.ts';
import { Shop } from './shop-data.ts';
import { createStoreProcess } from './store-process.ts';

/** Name of the database, and namespace of exchanges, queues and keys of Redis. */
const benchName = 'bench_reports';
const publishedAtOnce = 500;
/** The benchmark fails unless the events are applied within this time plus their time at `minPerSecond`. */
const maxStartMs = 10_000;
const minPerSecond = 100;
const pollIntervalMs = 50;
const countIntervalMs = 100;

/** A warehouse that publishes fulfilment events to a store-api. */
interface Warehouse {
  readonly context: BenchContext;
  readonly store: ServiceProcess;
  readonly shop: Shop;
  readonly channel: ConfirmChannel;
  /** SKUs of the limited editions that are counted. */
  readonly skus: readonly string[];
}

/** Measures how fast store-api applies fulfilment events from full queues, with one replica and with two. */
export async function benchReports(context: BenchContext): Promise<readonly Figure[]> {
  const store = await createStoreProcess(context, benchName);
  const shop = await Shop.open(store.databaseUrl);
  const connection = await connect(context.stores.rabbitmq);
  try {
    await shop.addCatalogue();
    await store.start();
    const channel = await connection.createConfirmChannel();
    const warehouse = { context, store, shop, channel, skus: await shop.limitProducts() };
    const figures = await measureReplicas(warehouse, 'one replica');
    await store.startReplica();
    figures.push(...(await measureReplicas(warehouse, 'two replicas')));
    return [...figures, await measureDelayOfCounts(warehouse), ...store.memory()];
  } finally {
    await shop.close();
    await store.stop();
    await connection.close();
  }
}

/** Measures all replicas of store-api that are running. */
async function measureReplicas(warehouse: Warehouse, condition: string): Promise<Figure[]> {
  const { rowCount, rounds, step } = warehouse.context;
  const variant = (eventsName: string, makeEvents: () => Message[] | Promise<Message[]>) => {
    const name = `${eventsName}, ${condition}`;
    return { name, measure: () => step(name, async () => apply(warehouse, await makeEvents())) };
  };
  const samples = await alternate(
    [
      variant('shipments', () => addShipments(warehouse, rowCount)),
      variant('stock counts', () =>
        Array.from({ length: rowCount }, (_, index) => stockCount(warehouse, index)),
      ),
    ],
    rounds,
  );
  return Object.entries(samples).flatMap(([name, samplesOfVariant]) => {
    const perSecond = samplesOfVariant.map((sample) => sample.perSecond);
    const cpuUs = samplesOfVariant.flatMap((sample) => sample.cpuUs ?? []);
    return [
      figure(name, perSecond, '/s', { atLeast: 2000 }),
      ...(cpuUs.length === 0 ? [] : [figure('  processor time of store-api per event', cpuUs, 'µs')]),
    ];
  });
}

/** Measures the time from the publication of a stock count until it is applied, while shipments wait. */
function measureDelayOfCounts(warehouse: Warehouse): Promise<Figure> {
  const { context, store, shop } = warehouse;
  const { rowCount, step } = context;
  const name = `slowest stock count behind ${rowCount} shipments`;
  return step(name, async () => {
    const shipments = await addShipments(warehouse, rowCount);
    await shop.clearInbox();
    store.pause();
    await publish(warehouse, shipments);
    store.resume();
    const delaysMs: number[] = [];
    do {
      const count = stockCount(warehouse, 0);
      const publishedAtMs = performance.now();
      await publish(warehouse, [count]);
      while (!(await shop.isApplied(count.id))) await sleep(1);
      delaysMs.push(performance.now() - publishedAtMs);
      await sleep(countIntervalMs);
    } while ((await shop.countApplied()) < rowCount);
    await waitUntilApplied(shop, rowCount + delaysMs.length);
    return figure(name, [Math.max(...delaysMs)], 'ms', { atMost: 1000 });
  });
}

async function apply(warehouse: Warehouse, events: readonly Message[]): Promise<Sample> {
  await warehouse.shop.clearInbox();
  return measurePrepared(events.length, warehouse.store, {
    prepare: () => publish(warehouse, events),
    work: () => waitUntilApplied(warehouse.shop, events.length),
  });
}

async function publish({ channel }: Warehouse, events: readonly Message[]): Promise<void> {
  const { factsExchange } = topologyOf(benchName);
  for (let from = 0; from < events.length; from += publishedAtOnce) {
    for (const event of events.slice(from, from + publishedAtOnce))
      channel.publish(factsExchange, event.type, Buffer.from(JSON.stringify(event)), { persistent: true });
    await channel.waitForConfirms();
  }
}

async function waitUntilApplied(shop: Shop, count: number): Promise<void> {
  const timeoutAtMs = performance.now() + (count * 1000) / minPerSecond + maxStartMs;
  for (;;) {
    const applied = await shop.countApplied();
    if (applied > count) throw new Failure(`${applied - count} messages too many were applied.`);
    if (applied === count) return;
    if (performance.now() > timeoutAtMs)
      throw new Failure(`Only ${applied} of ${count} messages were applied.`);
    await sleep(pollIntervalMs);
  }
}

/** Adds orders. @returns a message about the shipment of each */
async function addShipments({ shop }: Warehouse, count: number): Promise<Message[]> {
  const tracking = { carrier: 'Royal Mail', tracking_number: 'A', tracking_url: 'https://track.example/A' };
  return (await shop.addUnshippedOrders(count)).map((order_id) =>
    messages.fulfilmentShipped.make({ order_id, ...tracking }, { occurredAt: new Date() }),
  );
}

function stockCount({ skus }: Warehouse, index: number): Message {
  const sku = skus[index % skus.length] ?? '';
  const quantity = 1000 + (index % 100);
  return messages.fulfilmentStockSet.make({ sku, quantity }, { occurredAt: new Date() });
}
