import { type Message, messages, topologyOf } from '@fulfilment/contracts';
import { type ConfirmChannel, connect } from 'amqplib';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../dev/failure.ts';
import type { BenchContext } from '../bench-context.ts';
import { figure, type Figure } from '../figures.ts';
import { alternate, makeSample, type Sample } from '../rounds.ts';
import type { ServedProcess } from '../served-process.ts';
import { addCatalogue, createStoreProcess } from './store-process.ts';
import { WarehouseData } from './warehouse-data.ts';

/** Name of the database, and namespace of exchanges, queues and keys of Redis. */
const benchName = 'bench_reports';
const publishedAtOnce = 500;
/** The benchmark fails at a lower throughput, not counting the time until the first event is applied. */
const minPerSecond = 100;
const maxStartMs = 10_000;
const pollIntervalMs = 50;
const countIntervalMs = 100;

/** Measures how fast store-api applies fulfilment events from full queues, with one replica and with two. */
export async function benchReports(context: BenchContext): Promise<readonly Figure[]> {
  const store = await createStoreProcess(context, benchName);
  await addCatalogue(store.databaseUrl);
  const data = await WarehouseData.open(store.databaseUrl);
  const connection = await connect(context.stores.rabbitmq);
  const replicas: ServedProcess[] = [];
  try {
    await store.start();
    const warehouse = new Warehouse(context, data, {
      channel: await connection.createConfirmChannel(),
      skus: await data.limitProducts(),
    });
    replicas.push(store.process);
    const figures = await warehouse.measure(replicas, 'one replica');
    replicas.push(await store.startReplica());
    figures.push(...(await warehouse.measure(replicas, 'two replicas')));
    return [...figures, await warehouse.delayOfCounts(replicas), ...store.memory()];
  } finally {
    await data.close();
    await Promise.all(replicas.slice(1).map((replica) => replica.stop()));
    await store.stop();
    await connection.close();
  }
}

/** Publishes fulfilment events, and measures how fast the replicas of store-api apply them. */
class Warehouse {
  private readonly context: BenchContext;
  private readonly data: WarehouseData;
  private readonly channel: ConfirmChannel;
  /** The limited editions that stock counts are about. */
  private readonly skus: readonly string[];

  constructor(
    context: BenchContext,
    data: WarehouseData,
    { channel, skus }: { readonly channel: ConfirmChannel; readonly skus: readonly string[] },
  ) {
    this.context = context;
    this.data = data;
    this.channel = channel;
    this.skus = skus;
  }

  async measure(replicas: readonly ServedProcess[], condition: string): Promise<Figure[]> {
    const { rowCount: amount, step } = this.context;
    const rounds = await alternate(
      [
        {
          name: `shipments, ${condition}`,
          measure: () =>
            step(`Shipments, ${condition}`, async () =>
              this.apply(replicas, await this.addShipments(amount)),
            ),
        },
        {
          name: `stock counts, ${condition}`,
          measure: () =>
            step(`Stock counts, ${condition}`, () => this.apply(replicas, this.stockCounts(amount))),
        },
      ],
      this.context.rounds,
    );
    return Object.entries(rounds).flatMap(([variant, samples]) => [
      figure(
        variant,
        samples.map(({ perSecond }) => perSecond),
        '/s',
        { atLeast: 2000 },
      ),
      figure(
        '  processor time of store-api per event',
        samples.map(({ cpuUs = Number.NaN }) => cpuUs),
        'µs',
      ),
    ]);
  }

  /** Measures the time from the publication of a stock count until it is applied, while shipments wait. */
  async delayOfCounts(replicas: readonly ServedProcess[]): Promise<Figure> {
    const { rowCount: amount, step } = this.context;
    return step(`Stock counts behind ${amount} shipments`, async () => {
      const shipments = await this.addShipments(amount);
      await this.data.clearInbox();
      await this.publishWhilePaused(replicas, shipments);
      const delaysMs: number[] = [];
      do {
        const [count] = this.stockCounts(1);
        if (count !== undefined) delaysMs.push(await this.delayOf(count));
        await sleep(countIntervalMs);
      } while ((await this.data.countApplied()) < amount);
      await this.waitUntilApplied(amount + delaysMs.length);
      return figure(`slowest stock count behind ${amount} shipments`, [Math.max(...delaysMs)], 'ms', {
        atMost: 1000,
      });
    });
  }

  /** Returns the ms from the publication of a stock count until it is applied. */
  private async delayOf(count: Message): Promise<number> {
    const startedAtMs = performance.now();
    await this.publish([count]);
    while (!(await this.data.isApplied(count.id))) await sleep(1);
    return performance.now() - startedAtMs;
  }

  private async apply(replicas: readonly ServedProcess[], events: readonly Message[]): Promise<Sample> {
    const cpuMs = () => replicas.reduce((sum, replica) => sum + (replica.cpuMs() ?? Number.NaN), 0);
    await this.data.clearInbox();
    const cpuBeforeMs = cpuMs();
    const resumedAtMs = await this.publishWhilePaused(replicas, events);
    await this.waitUntilApplied(events.length);
    return makeSample(events.length, performance.now() - resumedAtMs, [cpuBeforeMs, cpuMs()]);
  }

  /** @returns the time at which the replicas resumed, by `performance.now()` */
  private async publishWhilePaused(
    replicas: readonly ServedProcess[],
    events: readonly Message[],
  ): Promise<number> {
    for (const replica of replicas) replica.pause();
    await this.publish(events);
    for (const replica of replicas) replica.resume();
    return performance.now();
  }

  private async publish(events: readonly Message[]): Promise<void> {
    const { factsExchange } = topologyOf(benchName);
    for (let from = 0; from < events.length; from += publishedAtOnce) {
      for (const event of events.slice(from, from + publishedAtOnce))
        this.channel.publish(factsExchange, event.type, Buffer.from(JSON.stringify(event)), {
          persistent: true,
        });
      await this.channel.waitForConfirms();
    }
  }

  private async waitUntilApplied(count: number): Promise<void> {
    const timeoutAtMs = performance.now() + (count * 1000) / minPerSecond + maxStartMs;
    for (;;) {
      const applied = await this.data.countApplied();
      if (applied > count) throw new Failure(`${applied - count} messages too many were applied.`);
      if (applied === count) return;
      if (performance.now() > timeoutAtMs)
        throw new Failure(`Only ${applied} of ${count} messages were applied.`);
      await sleep(pollIntervalMs);
    }
  }

  /** Adds orders. @returns a message about the shipment of each */
  private async addShipments(amount: number): Promise<Message[]> {
    const tracking = { carrier: 'Royal Mail', tracking_number: 'A', tracking_url: 'https://track.example/A' };
    return (await this.data.addOrders(amount)).map((order_id) =>
      messages.fulfilmentShipped.make({ order_id, ...tracking }, { occurredAt: new Date() }),
    );
  }

  private stockCounts(amount: number): Message[] {
    return Array.from({ length: amount }, (_, index) => {
      const sku = this.skus[index % this.skus.length] ?? '';
      return messages.fulfilmentStockSet.make(
        { sku, quantity: 1000 + (index % 100) },
        { occurredAt: new Date() },
      );
    });
  }
}
