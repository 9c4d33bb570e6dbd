import { type MessageQueue, messageQueues, type ShardedTopology } from '@fulfilment/contracts';
import type { Database, ScanTimes } from '@fulfilment/database';
import type { Logger } from '@fulfilment/runtime';
import { Broker } from './broker/broker.js';
import { type ConsumerTimes, QueueReader, type QueueReaderSettings } from './consuming/queue-reader.js';
import { Limit } from './consuming/limit.js';
import type { MessageConsumer } from './consuming/message-consumer.js';
import type { HandlerCallbacks, MessageHandler } from './consuming/message-handler.js';
import { ApplyMessages, type HandlingOptions, startCounting } from './consuming/apply-messages.js';
import { MoveToShards } from './consuming/move-to-shards.js';
import { Outbox } from './outbox/outbox.js';
import { OutboxRelay } from './outbox/outbox-relay.js';
import { QueueGauges } from './broker/queue-gauges.js';
import type { QueueSource } from './consuming/queue-handover.js';
import { RetryingPublisher } from './consuming/retrying-publisher.js';

type Lane = ShardedTopology['lanes'][number];

/** Maximum number of messages that are moved from an intake to its shards in one batch. */
const maxMovedMessages = 200;
const defaultShardTimeSliceMs = 5_000;

/**
 * The connections of a service to RabbitMQ: one to publish, one to consume. While RabbitMQ is short of memory
 * or disk, it reads nothing from publishing connections; acknowledgements must continue, to free memory.
 */
export class Messaging {
  readonly outbox = new Outbox();
  private readonly publishing: Broker;
  private readonly consuming: Broker;
  private readonly relay: OutboxRelay;
  private readonly readers: QueueReader[] = [];
  private readonly queues: MessageQueue[] = [];
  private readonly gauges: QueueGauges;

  constructor(
    private readonly settings: {
      readonly url: string;
      /** Names the connections in the management interface of RabbitMQ. */
      readonly service: string;
      readonly namespace: string;
      readonly consumerTimes?: ConsumerTimes;
      /** For the scans of the outbox table by the relay. */
      readonly outboxTimes?: ScanTimes;
      /** Rejects while the database is unreachable. Default: `database.ping`, whose pool may be exhausted. */
      readonly ping?: () => Promise<void>;
      /** Interval at which the queue depths are read; 15 s by default. */
      readonly gaugeIntervalMs?: number;
    },
    private readonly database: Database,
    private readonly logger: Logger,
  ) {
    const { url, namespace, service } = settings;
    this.publishing = new Broker({ url, namespace, name: `${service}, publishing` }, logger);
    this.consuming = new Broker({ url, namespace, name: `${service}, consuming` }, logger);
    this.relay = new OutboxRelay(database, this.publishing, this.outbox, logger, settings.outboxTimes);
    this.gauges = new QueueGauges(this.consuming, this.queues, logger, settings.gaugeIntervalMs);
  }

  /** Whether both connections are open, for the readiness probe. */
  get connected(): boolean {
    return this.publishing.connected && this.consuming.connected;
  }

  /** Registers a consumer. Call before `start`. */
  consume(consumer: MessageConsumer): void {
    const { queue, batchSize } = consumer;
    this.queues.push(queue);
    startCounting(queue);
    this.consuming.declare(queue);
    const { topology } = this.consuming;
    const sharded = topology.sharded(queue);
    if (sharded === undefined) {
      const source = this.sourceOf(queue, topology.queue(queue));
      this.addReader({ queue, source, batchSize }, (callbacks) => this.newHandler(consumer, callbacks));
    } else {
      for (const lane of sharded.lanes) this.consumeLane(consumer, sharded, lane);
    }
  }

  start(): void {
    this.publishing.start();
    this.consuming.start();
    this.relay.start();
    this.gauges.start();
  }

  /** Finishes the current work, then closes. */
  async stop(): Promise<void> {
    await Promise.all([
      this.relay.stop(),
      this.gauges.stop(),
      ...this.readers.map((reader) => reader.stop()),
    ]);
    await Promise.all([this.publishing.stop(), this.consuming.stop()]);
  }

  /** Adds the readers of a lane: one moves messages from the intake to the shards; one reads each shard. */
  private consumeLane(consumer: MessageConsumer, sharded: ShardedTopology, lane: Lane): void {
    const { queue, batchSize } = consumer;
    this.addReader(
      { queue, source: this.sourceOf(queue, lane.intake), batchSize: maxMovedMessages },
      (callbacks) => new MoveToShards(queue, sharded, this.newPublisher(queue), callbacks),
    );
    const limit = new Limit(lane.maxTransactions);
    const { shardTimeSliceMs: timeSliceMs = defaultShardTimeSliceMs } = this.settings.consumerTimes ?? {};
    for (const shard of lane.shards)
      this.addReader(
        { queue, source: { current: shard, retired: [], patterns: [] }, batchSize, timeSliceMs },
        (callbacks) => this.newHandler(consumer, { ...callbacks, limit }),
      );
  }

  /** Returns what the reader of `current` reads: first the earlier versions of `queue`, then `current`. */
  private sourceOf(queue: MessageQueue, current: string): QueueSource {
    const retired = this.consuming.topology.retiredQueues(queue);
    return { current, retired, patterns: messageQueues[queue] };
  }

  private addReader(
    settings: Omit<QueueReaderSettings, 'ping'>,
    makeHandler: (callbacks: HandlerCallbacks) => MessageHandler,
  ): void {
    const { ping = () => this.database.ping() } = this.settings;
    this.readers.push(new QueueReader({ ...settings, ping }, this.consuming, this.logger, makeHandler));
  }

  private newHandler(consumer: MessageConsumer, options: HandlingOptions): ApplyMessages {
    const publisher = this.newPublisher(consumer.queue);
    return new ApplyMessages(consumer, this.database, publisher, this.logger, {
      ...this.settings.consumerTimes,
      ...options,
    });
  }

  private newPublisher(queue: MessageQueue): RetryingPublisher {
    return new RetryingPublisher(this.publishing, queue, this.logger);
  }
}
