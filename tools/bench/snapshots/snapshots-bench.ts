import { connect, type ConfirmChannel } from 'amqplib';
import pg from 'pg';
import type { BenchSite } from '../bench-site.ts';
import type { Figure } from '../figures.ts';
import { absolute, alternate, type Part, ratio } from '../rounds.ts';
import { DeliveringWorker } from '../webhooks/delivering-worker.ts';
import { FactsSender } from '../webhooks/facts-sender.ts';
import { ReceiverProcess } from '../webhooks/receiver-process.ts';
import { measureRelay, relayedPerPart, relayNamespace } from '../webhooks/relay.ts';

const deliveriesPerPart = 3_000;
const target = { atLeast: 0.8 };

/**
 * Compares the outbox relay and deliveries to one subscription with the same during a snapshot in their
 * database, as pg_dump holds it for an hour. PostgreSQL keeps all rows that are deleted or updated during it,
 * and their index entries. Both variants have done the same work before.
 */
export async function benchSnapshots(site: BenchSite): Promise<readonly Figure[]> {
  const connection = await connect(site.stores.rabbitmq);
  const channel = await connection.createConfirmChannel();
  try {
    return [...(await benchRelay(site, channel)), ...(await benchDeliveries(site, channel))];
  } finally {
    await connection.close();
  }
}

async function benchRelay(site: BenchSite, channel: ConfirmChannel): Promise<Figure[]> {
  const without = await RelayVariant.start(site, channel, 'bench_relay');
  const during = await RelayVariant.start(site, channel, 'bench_relay_dumped');
  const snapshot = await Snapshot.hold(during.sender.databaseUrl);
  try {
    return await compare(site, 'outbox relay', { without, during, perPart: relayedPerPart });
  } finally {
    await snapshot.end();
    await without.stop();
    await during.stop();
  }
}

async function benchDeliveries(site: BenchSite, channel: ConfirmChannel): Promise<Figure[]> {
  const receiver = await ReceiverProcess.start();
  const connections = { receiver, channel };
  const without = await DeliveringWorker.start(site, 'bench_webhooks', connections);
  const during = await DeliveringWorker.start(site, 'bench_webhooks_dumped', connections);
  const partOf = (worker: DeliveringWorker) => ({
    part: () => worker.fromBacklogOf(worker.subscriberAt(0), deliveriesPerPart),
  });
  await without.measureFromMessages();
  await during.measureFromMessages();
  const snapshot = await Snapshot.hold(during.service.databaseUrl);
  try {
    const variants = { without: partOf(without), during: partOf(during), perPart: deliveriesPerPart };
    return await compare(site, 'deliveries to one subscription', variants);
  } finally {
    await snapshot.end();
    await receiver.stop();
    await without.stop();
    await during.stop();
  }
}

interface Variants {
  readonly without: { part(): Promise<Part> };
  readonly during: { part(): Promise<Part> };
  readonly perPart: number;
}

async function compare(
  site: BenchSite,
  name: string,
  { without, during, perPart }: Variants,
): Promise<Figure[]> {
  const partsBefore = Math.ceil(site.oldRows / perPart);
  await site.step(`${partsBefore * perPart} in the ${name}, each`, async () => {
    for (let part = 0; part < partsBefore; part += 1) {
      await without.part();
      await during.part();
    }
  });
  const rounds = await site.step(`The ${name} afterwards`, () =>
    alternate(
      [
        { name: 'without', part: () => without.part() },
        { name: 'during', part: () => during.part() },
      ],
      site.rounds,
    ),
  );
  return [
    ratio(`${name} during a snapshot, of without`, rounds, 'during', 'without', target),
    ...absolute(rounds, 'without'),
    ...absolute(rounds, 'during'),
  ];
}

class RelayVariant {
  static async start(site: BenchSite, channel: ConfirmChannel, database: string): Promise<RelayVariant> {
    const sender = await FactsSender.start(site, relayNamespace, database);
    const outbox = new pg.Client(sender.databaseUrl);
    await outbox.connect();
    return new RelayVariant(sender, outbox, channel);
  }

  readonly sender: FactsSender;
  private readonly outbox: pg.Client;
  private readonly channel: ConfirmChannel;

  private constructor(sender: FactsSender, outbox: pg.Client, channel: ConfirmChannel) {
    this.sender = sender;
    this.outbox = outbox;
    this.channel = channel;
  }

  part(): Promise<Part> {
    return measureRelay(this.channel, this.sender, this.outbox);
  }

  async stop(): Promise<void> {
    await this.outbox.end();
    await this.sender.stop();
  }
}

/** A transaction with a snapshot of the database, as pg_dump has. */
class Snapshot {
  static async hold(databaseUrl: string): Promise<Snapshot> {
    const client = new pg.Client(databaseUrl);
    await client.connect();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    await client.query('SELECT 1');
    return new Snapshot(client);
  }

  private readonly client: pg.Client;

  private constructor(client: pg.Client) {
    this.client = client;
  }

  end(): Promise<void> {
    return this.client.end();
  }
}
