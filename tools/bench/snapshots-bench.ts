import { connect, type ConfirmChannel } from 'amqplib';
import pg from 'pg';
import type { BenchContext } from './bench-context.ts';
import type { Figure } from './figures.ts';
import { alternate, comparisonFigures, type Sample } from './rounds.ts';
import { deliveriesPerSample, DeliveringWorker } from './webhooks/delivering-worker.ts';
import { ReceiverProcess } from './webhooks/receiver-process.ts';
import { relayedPerSample, startRelay } from './webhooks/relay.ts';

const target = { atLeast: 0.8 };

/**
 * Measures the outbox relay, and deliveries to one subscription, with and without a long snapshot of their
 * database. pg_dump holds such a snapshot until it ends. PostgreSQL keeps all rows that are deleted or
 * updated during a snapshot, and their index entries. Before the comparison, both variants do the same work,
 * so that many such rows exist.
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
    return await compare(context, 'outbox relay', {
      without: without.measure,
      during: during.measure,
      perSample: relayedPerSample,
    });
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
  const measureOneSubscriber = (worker: DeliveringWorker) =>
    worker.measureFromBacklog(worker.subscribers.slice(0, 1));
  // Each writes the event that the backlogs copy.
  await without.measureFromMessages();
  await during.measureFromMessages();
  const snapshot = await holdSnapshot(during.service.databaseUrl);
  try {
    return await compare(context, 'deliveries to one subscription', {
      without: () => measureOneSubscriber(without),
      during: () => measureOneSubscriber(during),
      perSample: deliveriesPerSample,
    });
  } finally {
    await snapshot.end();
    await receiver.stop();
    await without.stop();
    await during.stop();
  }
}

/** The same measurement without a snapshot and during one. */
interface Variants {
  readonly without: () => Promise<Sample>;
  readonly during: () => Promise<Sample>;
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
      await without();
      await during();
    }
  });
  const rounds = await context.step(`Comparison: ${name}`, () =>
    alternate(
      [
        { name: 'without', measure: without },
        { name: 'during', measure: during },
      ],
      context.rounds,
    ),
  );
  const pair = { numerator: 'during', denominator: 'without' };
  return comparisonFigures(`${name} during a snapshot, ratio to without`, rounds, pair, target);
}

/** Opens a transaction with a snapshot of the database, as pg_dump does. It ends with the client. */
async function holdSnapshot(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  await client.query('SELECT 1'); // takes the snapshot
  return client;
}
