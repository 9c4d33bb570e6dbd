import { type Message, messages, topologyOf } from '@fulfilment/contracts';
import { type ConfirmChannel, connect } from 'amqplib';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../dev/failure.ts';
import type { BenchSite } from '../bench-site.ts';
import { figure, type Figure } from '../figures.ts';
import { alternate, makePart, type Part } from '../rounds.ts';
import type { ServedProcess } from '../served-process.ts';
import { ServiceProcess } from '../service-process.ts';
import { Shop } from '../store/shop-data.ts';
import { WarehouseData } from './warehouse-data.ts';

const name = 'bench_reports';
const publishedAtOnce = 500;
const minPerSecond = 100;
const pollIntervalMs = 50;
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
    const { oldRows: amount, rounds: count, step } = this.site;
    const rounds = await alternate(
      [
        {
          name: `shipments, ${which}`,
          part: () =>
            step(`Shipments, ${which}`, async () => this.apply(replicas, await this.shipments(amount))),
        },
        {
          name: `stock counts, ${which}`,
          part: () => step(`Stock counts, ${which}`, () => this.apply(replicas, this.stockCounts(amount))),
        },
      ],
      count,
    );
    return Object.entries(rounds).flatMap(([name, parts]) => [
      figure(
        name,
        parts.map(({ perSecond }) => perSecond),
        '/s',
        { atLeast: 2000 },
      ),
      figure(
        '  its processor time in store-api',
        parts.map(({ cpuUs = Number.NaN }) => cpuUs),
        'µs',
      ),
    ]);
  }

  /** The time from the publication of a stock count until it is applied, while shipments wait. */
  async delayOfCounts(replicas: readonly ServedProcess[]): Promise<Figure> {
    const { oldRows: amount, step } = this.site;
    return step(`Stock counts behind ${amount} shipments`, async () => {
      const shipments = await this.shipments(amount);
      await this.data.clearInbox();
      await this.publishWhilePaused(replicas, shipments);
      const delaysMs: number[] = [];
      do {
        const [count] = this.stockCounts(1);
        if (count !== undefined) delaysMs.push(await this.delayOf(count));
        await sleep(countIntervalMs);
      } while ((await this.data.appliedCount()) < amount);
      await this.untilApplied(amount + delaysMs.length);
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

  private async apply(replicas: readonly ServedProcess[], reports: readonly Message[]): Promise<Part> {
    const cpuMs = () => replicas.reduce((sum, replica) => sum + (replica.cpuMs() ?? Number.NaN), 0);
    await this.data.clearInbox();
    const cpuBeforeMs = cpuMs();
    const startedAt = await this.publishWhilePaused(replicas, reports);
    await this.untilApplied(reports.length);
    return makePart(reports.length, performance.now() - startedAt, [cpuBeforeMs, cpuMs()]);
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
    const until = performance.now() + (count * 1000) / minPerSecond + 10_000;
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
