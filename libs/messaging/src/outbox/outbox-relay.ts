import { type Database, ScanStart, type ScanTimes, statement, type Transaction } from '@fulfilment/database';
import { BackgroundLoop, Counter, Gauge, isTracing, type Logger } from '@fulfilment/runtime';
import type { Broker } from '../broker/broker.js';
import { recordSending } from '../message-spans.js';
import { ConfirmedPublisher } from '../broker/confirmed-publisher.js';
import type { Outbox } from './outbox.js';

const batchSize = 500;
const pollIntervalMs = 500; // finds messages that a crashed process left
const pauseMs = 5; // collects messages for the next round, since each round costs a commit

const published = new Counter({
  name: 'outbox_published_total',
  help: 'Messages published and confirmed by RabbitMQ.',
});

const oldest = new Gauge({
  name: 'outbox_oldest_seconds',
  help: 'Age of the oldest message in the outbox that is not yet published. Alert above 30.',
});

interface OutboxRow {
  position: number;
  message_id: string;
  routing_key: string;
  body: string;
}

const lockBatch = statement(
  'outbox.lock-batch',
  `SELECT position, message_id, type AS routing_key, body::text FROM outbox WHERE position >= $1
   ORDER BY position LIMIT ${batchSize} FOR UPDATE SKIP LOCKED`,
);
const readOldest = statement(
  'outbox.oldest',
  `SELECT extract(epoch FROM now() - written_at)::float8 AS seconds FROM outbox WHERE position >= $1
   ORDER BY position LIMIT 1`,
);
const deleteBatch = statement('outbox.delete', 'DELETE FROM outbox WHERE position = ANY($1::bigint[])');

/**
 * Publishes the outbox to RabbitMQ: a batch is locked, published, confirmed, deleted, committed. After a
 * crash at any point, the batch is published again under the same ids; no message is lost. Several replicas
 * may run: each publishes rows that no other has locked.
 */
export class OutboxRelay extends BackgroundLoop {
  /** The publisher of the newest connection; undefined before the first. */
  private publisher: ConfirmedPublisher | undefined;
  private readonly scanStart: ScanStart;
  /** Where the scan of the current round starts; 0 for a full scan. */
  private position = 0;

  constructor(
    private readonly database: Database,
    private readonly broker: Broker,
    outbox: Outbox,
    logger: Logger,
    times?: ScanTimes,
  ) {
    super({ name: 'outbox-relay', intervalMs: pollIntervalMs, pauseMs, logger, round: () => this.round() });
    this.scanStart = new ScanStart(times);
    outbox.onWritten(() => this.wake());
    broker.use((channel) => {
      this.publisher = new ConfirmedPublisher(channel);
      this.wake();
    });
  }

  private async round(): Promise<boolean> {
    const sent = await this.send();
    const isBehind = sent === undefined || sent === batchSize;
    oldest.set(isBehind ? await this.oldestSeconds() : 0);
    return sent === batchSize;
  }

  /** Returns the number of sent messages; undefined when none can be sent now. */
  private async send(): Promise<number | undefined> {
    const { publisher } = this;
    if (publisher?.isOpen !== true || this.broker.blocked) return undefined;
    this.position = this.scanStart.position();
    try {
      const positions = await this.database.transaction((tx) => this.sendBatch(tx, publisher));
      this.scanStart.advance(positions);
      published.inc(positions.length);
      return positions.length;
    } catch (error) {
      await this.oldestSeconds().then(
        (seconds) => oldest.set(seconds),
        () => undefined, // PostgreSQL is unreachable, as the thrown error says
      );
      throw error;
    }
  }

  /** @returns the positions of the sent messages, in order */
  private async sendBatch(tx: Transaction, publisher: ConfirmedPublisher): Promise<number[]> {
    const rows = await this.lockBatch(tx);
    if (rows.length === 0) return [];
    const startedAtMs = performance.now();
    // A type may have no queue, so whether each message is in a queue is ignored.
    await publisher.publish(
      rows.map((row) => ({
        exchange: this.broker.topology.factsExchange,
        routingKey: row.routing_key,
        content: Buffer.from(row.body),
        messageId: row.message_id,
      })),
    );
    if (isTracing()) recordSending(rows, startedAtMs);
    const positions = rows.map((row) => row.position);
    tx.awaitAtCommit(tx.run(deleteBatch, [positions]));
    return positions;
  }

  private async lockBatch(tx: Transaction): Promise<OutboxRow[]> {
    const startedAtMs = performance.now();
    try {
      return await tx.rows<OutboxRow>(lockBatch, [this.position]);
    } finally {
      if (this.position === 0) this.scanStart.fullScanTook(performance.now() - startedAtMs);
    }
  }

  private async oldestSeconds(): Promise<number> {
    return (await this.database.row<{ seconds: number }>(readOldest, [this.position]))?.seconds ?? 0;
  }
}
