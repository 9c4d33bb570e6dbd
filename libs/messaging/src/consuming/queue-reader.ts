import { type MessageQueue, orderedQueues } from '@fulfilment/contracts';
import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { type Logger, resolveWithin } from '@fulfilment/runtime';
import type { ChannelModel, ConfirmChannel, ConsumeMessage } from 'amqplib';
import { setTimeout as delay } from 'node:timers/promises';
import type { Broker, Precondition } from '../broker/broker.js';
import type { HandlerCallbacks, MessageHandler } from './message-handler.js';
import type { HandlingTimes } from './apply-messages.js';
import { QueueHandover, type QueueSource } from './queue-handover.js';
import { QueueSubscription } from './queue-subscription.js';

const handoverPollIntervalMs = 500;
/** Long: only a replica of the previous version that starts after the handover re-creates a retired queue. */
const abandonedQueuePollIntervalMs = 600_000;
const pingTimeoutMs = 3_000;
/**
 * Below the delivery limit (20). At the limit, RabbitMQ would dead-letter all returned messages, not only the
 * crashing one.
 */
const maxDeliveriesInOrder = 10;

export interface QueueReaderSettings {
  readonly queue: MessageQueue;
  /** The RabbitMQ queue to read, and its earlier versions: the queue itself, or an intake or shard of it. */
  readonly source: QueueSource;
  /** Maximum number of messages in a batch. Twice as many are prefetched. */
  readonly batchSize: number;
  /** Rejects while the database is unreachable. */
  readonly ping: () => Promise<void>;
  /** About the time for which a reader with a backlog stays the active consumer. Default: no limit. */
  readonly timeSliceMs?: number | undefined;
}

export interface ConsumerTimes extends HandlingTimes {
  /** `timeSliceMs` of the readers of shards. Default: 5 s. */
  readonly shardTimeSliceMs?: number;
}

/**
 * Reads a RabbitMQ queue, and passes its messages to a handler in batches. A message is acknowledged after
 * its handling. It may arrive twice, but has one effect.
 *
 * A message that crashes its process affects no other message (ADR 23):
 * - A redelivered message is handled in a batch of its own.
 * - On a shared queue one message at a time is prefetched after a connect, until one arrives that was never
 *   delivered before. So only the crashing message returns, and only its delivery count grows.
 * - On an ordered queue the prefetch count must not change, since RabbitMQ would return messages in another
 *   order. So several messages return, and all their delivery counts grow. The first of them was being
 *   handled, since all before it were acknowledged. It is dead-lettered at `maxDeliveriesInOrder`.
 */
export class QueueReader {
  /** Received messages that are not being handled yet. */
  private received: ConsumeMessage[] = [];
  /** Undefined while no channel is open. */
  private subscription: QueueSubscription | undefined;
  private handling: Promise<void> | undefined;
  private stopping = false;
  private readonly handler: MessageHandler;

  constructor(
    private readonly settings: QueueReaderSettings,
    private readonly broker: Broker,
    private readonly logger: Logger,
    makeHandler: (callbacks: HandlerCallbacks) => MessageHandler,
  ) {
    this.handler = makeHandler({
      acknowledge: (channel, raw, scope) => this.acknowledge(channel, raw, scope),
      acceptsWork: (channel) => !this.stopping && this.isCurrent(channel),
      requeueUnlessDatabaseResponds: () => this.requeueUnlessDatabaseResponds(),
    });
    broker.use((channel, connection) => this.open(channel, connection));
  }

  /** Accepts no more messages. Resolves when those being handled are done. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.received = [];
    await this.handling;
  }

  private async open(channel: ConfirmChannel, connection: ChannelModel): Promise<void> {
    const { queue, source, batchSize, timeSliceMs } = this.settings;
    const subscription = new QueueSubscription(channel, {
      isOrdered: orderedQueues.has(queue),
      prefetch: batchSize * 2,
      timeSliceMs,
      receive: (raw) => this.receive(channel, raw),
    });
    this.subscription = subscription;
    channel.on('close', () => {
      if (this.isCurrent(channel)) this.subscription = undefined;
    });
    this.received = []; // unacknowledged on the old channel, so the broker redelivers them
    const { factsExchange } = this.broker.topology;
    const handover = new QueueHandover(connection, factsExchange, source, {
      isIdle: () => this.received.length === 0 && this.handling === undefined,
      subscribe: (name) => subscription.start(name),
      unsubscribe: () => subscription.stop(),
    });
    await handover.step();
    void this.watchRetiredQueues(channel, handover);
  }

  private isCurrent(channel: ConfirmChannel): boolean {
    return this.subscription?.channel === channel;
  }

  /**
   * Completes the handover. Then polls for a retired queue that was re-created, and reconnects to read it.
   * Ends when the channel closes or the reader stops.
   */
  private async watchRetiredQueues(channel: ConfirmChannel, handover: QueueHandover): Promise<void> {
    const closed = new AbortController();
    channel.once('close', () => closed.abort());
    try {
      for (;;) {
        const intervalMs = handover.isOver ? abandonedQueuePollIntervalMs : handoverPollIntervalMs;
        await delay(intervalMs, undefined, { ref: false, signal: closed.signal });
        if (!this.isCurrent(channel) || this.stopping) return;
        if (!handover.isOver) await handover.step();
        else if (await handover.hasAbandonedRetiredQueue()) return this.broker.reconnect();
      }
    } catch (error) {
      if (closed.signal.aborted || !this.isCurrent(channel)) return;
      this.logger.warn(
        { error, queue: this.settings.queue },
        'Retired queues could not be inspected or read; reconnecting.',
      );
      this.broker.reconnect();
    }
  }

  private receive(channel: ConfirmChannel, raw: ConsumeMessage | null): void {
    if (raw === null) return this.broker.reconnect(); // RabbitMQ cancelled the subscription
    if (this.stopping || !this.isCurrent(channel)) return;
    this.received.push(raw);
    this.handling ??= this.handleReceived().finally(() => {
      this.handling = undefined;
    });
  }

  private async handleReceived(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve)); // messages that arrive together make one batch
    while (this.received.length > 0) {
      const { subscription } = this;
      const batch = this.received.splice(0, this.nextBatchSize());
      if (subscription !== undefined) await this.handleOrReconnect(subscription, batch);
    }
  }

  /** A redelivered message may have crashed its process, so it gets a batch of its own. */
  private nextBatchSize(): number {
    const { batchSize } = this.settings;
    const redelivered = this.received.slice(0, batchSize).findIndex((raw) => raw.fields.redelivered);
    return redelivered === -1 ? batchSize : Math.max(redelivered, 1);
  }

  /** Handles messages. If a rejection cannot be recorded, reconnects, so that they are redelivered. */
  private async handleOrReconnect(
    { channel, hasHandledNone }: QueueSubscription,
    batch: readonly ConsumeMessage[],
  ): Promise<void> {
    try {
      const [first] = batch;
      const isFirstInOrder = hasHandledNone && orderedQueues.has(this.settings.queue);
      if (isFirstInOrder && first !== undefined && deliveryCountOf(first) >= maxDeliveriesInOrder)
        await this.handler.deadLetter(
          channel,
          first,
          `its consumer stopped ${deliveryCountOf(first)} times while handling it`,
        );
      else await this.handler.handle(channel, batch);
    } catch (error) {
      this.logger.error(
        { error, queue: this.settings.queue },
        'A rejected message could not be recorded; all unacknowledged messages will be redelivered.',
      );
      // Each requeue raises the delivery counts, so during a database outage messages are requeued once.
      this.requeueAll(error instanceof DependencyUnavailable ? () => this.ping() : undefined);
    }
  }

  /**
   * Requeues the messages if this replica cannot reach the database, since another replica may. If the
   * database responds to a ping, other replicas would have the same problem, so the messages stay.
   */
  private async requeueUnlessDatabaseResponds(): Promise<boolean> {
    const responds = await this.ping().then(
      () => true,
      () => false,
    );
    if (responds) return false;
    this.logger.error(
      { queue: this.settings.queue },
      'The database is unreachable; messages are returned to RabbitMQ until it is available.',
    );
    this.requeueAll(() => this.ping());
    return true;
  }

  /** Returns all unacknowledged messages to RabbitMQ. From now on none is handled, to keep their order. */
  private requeueAll(precondition: Precondition | undefined): void {
    this.received = [];
    this.subscription = undefined;
    this.broker.reconnect(precondition);
  }

  private ping(): Promise<void> {
    return resolveWithin(pingTimeoutMs, this.settings.ping(), () => {
      throw new Error(`The database did not respond to a ping within ${pingTimeoutMs} ms.`);
    });
  }

  /** Acknowledges a message. If the channel is closed, RabbitMQ redelivers it and the inbox ignores it. */
  private async acknowledge(
    channel: ConfirmChannel,
    raw: ConsumeMessage,
    { allUpTo = false } = {},
  ): Promise<void> {
    if (!this.isCurrent(channel)) return;
    try {
      await this.subscription?.acknowledge(raw, { allUpTo });
    } catch (error) {
      this.logger.warn(
        { error, queue: this.settings.queue },
        'A handled message could not be acknowledged, or the subscription to its queue could not be renewed.',
      );
    }
  }
}

/** Returns how often RabbitMQ delivered the message before and got no acknowledgement. */
function deliveryCountOf(raw: ConsumeMessage): number {
  const count: unknown = raw.properties.headers?.['x-delivery-count'];
  return typeof count === 'number' ? count : 0;
}
