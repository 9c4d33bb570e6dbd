import { type Message, messages, topologyOf } from '@fulfilment/contracts';
import { type ConfirmChannel, connect } from 'amqplib';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../dev/failure.ts';
import type { BenchSite } from '../bench-site.ts';
import { figure, type Figure } from '../figures.ts';
import type { ServedProcess } from '../served-process.ts';
import { ServiceProcess } from '../service-process.ts';
import { Shop } from '../store/shop-data.ts';
import { WarehouseData } from './warehouse-data.ts';

const name = 'bench_reports';
const publishedAtOnce = 500;
const minPerSecond = 100;
const pollIntervalMs = 20;
const countIntervalMs = 100;

/** Reports of the warehouse that store-api applies from full queues, with one replica and with two. */
export async function benchReports(site: BenchSite): Promise<readonly Figure[]> {
  const store = await ServiceProcess.create(site, 'store-api', name, () => ({
    REDIS_URL: `${site.stores.redis}?keyPrefix=${name}:`,
    PAYMENT_PROVIDER: 'sandbox',
  }));
  const shop = await Shop.open(store.databaseUrl);
  await shop.furnish();
  await shop.close();
  const data = await WarehouseData.open(store.databaseUrl);
  const connection = await connect(site.stores.rabbitmq);
  const replicas: ServedProcess[] = [];
  try {
    await store.start();
    const warehouse = new Warehouse(site, data, await connection.createConfirmChannel());
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

class Warehouse {
  private readonly site: BenchSite;
  private readonly data: WarehouseData;
  private readonly channel: ConfirmChannel;
  private skus: readonly string[] = [];

  constructor(site: BenchSite, data: WarehouseData, channel: ConfirmChannel) {
    this.site = site;
    this.data = data;
    this.channel = channel;
  }

  async measure(replicas: readonly ServedProcess[], which: string): Promise<Figure[]> {
    this.skus = await this.data.limitProducts();
    const { rounds: length, oldRows: amount, step } = this.site;
    const rates = { shipments: new Array<number>(), counts: new Array<number>() };
    for (let round = 0; round <= length; round += 1) {
      const shipments = await step(`Shipments, ${which}`, async () =>
        this.rate(replicas, await this.shipments(amount)),
      );
      const stock = await step(`Stock counts, ${which}`, () => this.rate(replicas, this.stockCounts(amount)));
      if (round === 0) continue; // warms up the code
      rates.shipments.push(shipments);
      rates.counts.push(stock);
    }
    return [
      figure(`shipments, ${which}`, rates.shipments, '/s', { atLeast: 2000 }),
      figure(`stock counts, ${which}`, rates.counts, '/s', { atLeast: 2000 }),
    ];
  }

  /** The time from the publication of a stock count until it is applied, while shipments wait. */
  async delayOfCounts(replicas: readonly ServedProcess[]): Promise<Figure> {
    const { oldRows: amount, step } = this.site;
    return step(`Stock counts behind ${amount} shipments`, async () => {
      const shipments = await this.shipments(amount);
      const before = await this.data.appliedCount();
      await this.publishWhilePaused(replicas, shipments);
      const delaysMs: number[] = [];
      do {
        const [count] = this.stockCounts(1);
        if (count !== undefined) delaysMs.push(await this.delayOf(count));
        await sleep(countIntervalMs);
      } while ((await this.data.appliedCount()) < before + amount);
      await this.untilApplied(before + amount + delaysMs.length);
      return figure(`slowest stock count behind ${amount} shipments`, [Math.max(...delaysMs)], 'ms', {
        atMost: 1000,
      });
    });
  }

  private async delayOf(count: Message): Promise<number> {
    const startedAt = performance.now();
    await this.publish([count]);
    while (!(await this.data.isApplied(count.id))) await sleep(1);
    return performance.now() - startedAt;
  }

  /** @returns applied messages per second */
  private async rate(replicas: readonly ServedProcess[], reports: readonly Message[]): Promise<number> {
    const before = await this.data.appliedCount();
    const startedAt = await this.publishWhilePaused(replicas, reports);
    await this.untilApplied(before + reports.length);
    return (reports.length * 1000) / (performance.now() - startedAt);
  }

  /** @returns when the replicas resumed */
  private async publishWhilePaused(
    replicas: readonly ServedProcess[],
    reports: readonly Message[],
  ): Promise<number> {
    for (const replica of replicas) replica.pause();
    await this.publish(reports);
    for (const replica of replicas) replica.resume();
    return performance.now();
  }

  private async publish(reports: readonly Message[]): Promise<void> {
    const { factsExchange } = topologyOf(name);
    for (let from = 0; from < reports.length; from += publishedAtOnce) {
      for (const report of reports.slice(from, from + publishedAtOnce))
        this.channel.publish(factsExchange, report.type, Buffer.from(JSON.stringify(report)), {
          persistent: true,
        });
      await this.channel.waitForConfirms();
    }
  }

  private async untilApplied(count: number): Promise<void> {
    const until = performance.now() + (this.site.oldRows * 1000) / minPerSecond + 10_000;
    for (;;) {
      const applied = await this.data.appliedCount();
      if (applied > count) throw new Failure(`${applied - count} messages too many were applied.`);
      if (applied === count) return;
      if (performance.now() > until) throw new Failure(`Only ${applied} of ${count} reports were applied.`);
      await sleep(pollIntervalMs);
    }
  }

  private async shipments(amount: number): Promise<Message[]> {
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
