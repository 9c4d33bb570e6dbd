import { connect, type ConfirmChannel } from 'amqplib';
import pg from 'pg';
import type { BenchContext } from './bench-context.ts';
import type { Figure } from './figures.ts';
import { alternate, type AlternatingVariant, comparisonFigures } from './rounds.ts';
import { deliveriesPerSample, DeliveringWorker } from './webhooks/delivering-worker.ts';
import { startOutboxSender } from './webhooks/outbox-sender.ts';
import { ReceiverProcess } from './webhooks/receiver-process.ts';
import { measureRelay, relayedPerSample, relayNamespace } from './webhooks/relay.ts';

const target = { atLeast: 0.8 };

/**
 * Compares the outbox relay, and deliveries to one subscription, during a long snapshot of their database
 * with the same without one. pg_dump holds such a snapshot until it ends. PostgreSQL keeps all rows that are
 * deleted or updated during a snapshot, and their index entries. Before the comparison, both variants do the
 * same work, so that many such rows exist.
 */
export async function benchSnapshots(context: BenchContext): Promise<readonly Figure[]> {
  const connection = await connect(context.stores.rabbitmq);
  const channel = await connection.createConfirmChannel();
  try {
    return [...(await benchRelay(context, channel)), ...(await benchDeliveries(context, channel))];
  } finally {
    await connection.close();
  }
}

async function benchRelay(context: BenchContext, channel: ConfirmChannel): Promise<Figure[]> {
  const without = await startRelay(context, channel, 'bench_relay');
  const during = await startRelay(context, channel, 'bench_relay_dumped');
  const snapshot = await holdSnapshot(during.databaseUrl);
  try {
    return await compare(context, 'outbox relay', { without, during, perSample: relayedPerSample });
  } finally {
    await snapshot.end();
    await without.stop();
    await during.stop();
  }
}

async function benchDeliveries(context: BenchContext, channel: ConfirmChannel): Promise<Figure[]> {
  const receiver = await ReceiverProcess.start();
  const connections = { receiver, channel };
  const without = await DeliveringWorker.start(context, 'bench_webhooks', connections);
  const during = await DeliveringWorker.start(context, 'bench_webhooks_dumped', connections);
  const variantOf = (worker: DeliveringWorker) => ({
    measure: () => worker.measureFromBacklog(worker.subscribers.slice(0, 1)),
  });
  await without.measureFromMessages();
  await during.measureFromMessages();
  const snapshot = await holdSnapshot(during.service.databaseUrl);
  try {
    const variants = {
      without: variantOf(without),
      during: variantOf(during),
      perSample: deliveriesPerSample,
    };
    return await compare(context, 'deliveries to one subscription', variants);
  } finally {
    await snapshot.end();
    await receiver.stop();
    await without.stop();
    await during.stop();
  }
}

interface Variants {
  readonly without: Pick<AlternatingVariant, 'measure'>;
  readonly during: Pick<AlternatingVariant, 'measure'>;
  /** Messages or deliveries per sample. */
  readonly perSample: number;
}

async function compare(
  context: BenchContext,
  name: string,
  { without, during, perSample }: Variants,
): Promise<Figure[]> {
  const samplesBefore = Math.ceil(context.rowCount / perSample);
  await context.step(`${samplesBefore * perSample} messages in each variant: ${name}`, async () => {
    for (let sample = 0; sample < samplesBefore; sample += 1) {
      await without.measure();
      await during.measure();
    }
  });
  const rounds = await context.step(`Comparison: ${name}`, () =>
    alternate(
      [
        { ...without, name: 'without' },
        { ...during, name: 'during' },
      ],
      context.rounds,
    ),
  );
  const pair = { of: 'during', to: 'without' };
  return comparisonFigures(`${name} during a snapshot, ratio to without`, rounds, pair, target);
}

async function startRelay(context: BenchContext, channel: ConfirmChannel, database: string) {
  const sender = await startOutboxSender(context, relayNamespace, database);
  const outbox = new pg.Client(sender.databaseUrl);
  await outbox.connect();
  return {
    databaseUrl: sender.databaseUrl,
    measure: () => measureRelay(channel, sender, outbox),
    stop: async () => {
      await outbox.end();
      await sender.stop();
    },
  };
}

/** Opens a transaction with a snapshot of the database, as pg_dump does. It ends with the client. */
async function holdSnapshot(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  await client.query('SELECT 1'); // takes the snapshot
  return client;
}
