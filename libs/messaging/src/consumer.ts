import { type MessageQueue, orderedQueues } from '@fulfilment/contracts';
import type { Database } from '@fulfilment/database';
import { isOutage } from '@fulfilment/error-envelope';
import type { Logger } from '@fulfilment/runtime';
import type { ChannelModel, ConfirmChannel, ConsumeMessage } from 'amqplib';
import { setTimeout as delay } from 'node:timers/promises';
import type { Broker } from './broker.js';
import { type HandleMessages, MessageHandling } from './message-handling.js';
import { QueueHandover } from './queue-handover.js';

const handoverPollMs = 500;
const leftBehindPollMs = 600_000;
const pingWithinMs = 3_000;
/** Below the limit of the broker, which would count the messages behind it as well. */
const maxDeathsInOrder = 10;

export interface ConsumerOptions {
  readonly queue: MessageQueue;
  /** Most messages handled in one transaction. */
  readonly batchSize: number;
  /** The effect of messages that were not handled before, in the order they came. In the same transaction as their inbox rows. */
  readonly handle: HandleMessages;
  /** Rejects while the database cannot be reached. */
  readonly ping?: () => Promise<void>;
}

export interface ConsumerTimes {
  /**
   * After this long without its database a replica returns its messages to RabbitMQ, for another replica. With a statement (9.6 s) and a
   * ping (3 s) under way that is within 30 s.
   */
  readonly returnAfterMs?: number;
  /** Between two tries of one message. */
  readonly retryMs?: { readonly first: number; readonly last: number };
}

/**
 * Takes messages from a queue: inbox rows and effects in one commit, then the acknowledgement. A message may come twice or late;
 * its effect happens once.
 *
 * A message that kills its process takes no other with it (ADR 23). A message that was delivered before is handled alone. From a shared
 * queue the consumer takes one message at a time after it connects, until one comes that was never delivered before: the one that
 * kills returns to RabbitMQ alone, and no other is counted with it. RabbitMQ keeps the order of returned messages only while the same
 * number is taken each time, so from an ordered queue the first message after connecting is set aside once it has returned too often: all
 * before it were acknowledged, so it is the one that was in work.
 */
export class Consumer {
  private waiting: ConsumeMessage[] = [];
  private channel: ConfirmChannel | undefined;
  private working: Promise<void> | undefined;
  private stopping = false;
  private source = '';
  private isFirstInOrder = false;
  private readonly isOrdered: boolean;
  private subscription: { readonly tag: string; readonly isCareful: boolean } | undefined;
  private readonly handling: MessageHandling;

  constructor(
    private readonly options: ConsumerOptions,
    private readonly database: Database,
    private readonly broker: Broker,
    private readonly logger: Logger,
    times: ConsumerTimes = {},
  ) {
    this.isOrdered = orderedQueues.has(options.queue);
    this.handling = new MessageHandling(options, database, broker.topology, logger, {
      ...times,
      acknowledge: (channel, raw, scope) => this.acknowledge(channel, raw, scope),
      isOpen: (channel) => !this.stopping && this.channel === channel,
      returnMessages: () => this.returnMessages(),
    });
    broker.use((channel, connection) => this.open(channel, connection), [options.queue]);
  }

  /** Takes nothing more and resolves when what was in hand is done. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.waiting = [];
    await this.working;
  }

  private async open(channel: ConfirmChannel, connection: ChannelModel): Promise<void> {
    this.channel = channel;
    this.subscription = undefined;
    channel.on('close', () => {
      if (this.channel === channel) this.channel = undefined;
    });
    this.waiting = []; // unacknowledged on the old channel: the broker delivers them once more
    const isIdle = () => this.waiting.length === 0 && this.working === undefined;
    const handover = new QueueHandover(connection, this.broker.topology, this.options.queue, {
      get isIdle() {
        return isIdle();
      },
      subscribe: (queue) => {
        this.source = queue;
        this.isFirstInOrder = this.isOrdered;
        return this.subscribe(channel, { isCareful: !this.isOrdered });
      },
      unsubscribe: () => this.unsubscribe(channel),
    });
    await handover.step();
    void this.completeHandover(channel, handover);
  }

  /** Until the channel ends. What fails ends the channel. */
  private async completeHandover(channel: ConfirmChannel, handover: QueueHandover): Promise<void> {
    try {
      while (this.channel === channel && !this.stopping) {
        await delay(handover.isOver ? leftBehindPollMs : handoverPollMs, undefined, { ref: false });
        if (this.channel !== channel || this.stopping) return;
        if (!handover.isOver) await handover.step();
        else if (await handover.isLeftBehind()) return this.broker.reconnect();
      }
    } catch (error) {
      if (this.channel !== channel) return;
      this.logger.warn({ error, queue: this.options.queue }, 'A retired queue could not be read to its end.');
      this.broker.reconnect();
    }
  }

  private async subscribe(channel: ConfirmChannel, { isCareful }: { isCareful: boolean }): Promise<void> {
    await channel.prefetch(isCareful ? 1 : this.options.batchSize * 2);
    const { consumerTag: tag } = await channel.consume(this.source, (raw) => {
      if (raw === null) return this.broker.reconnect(); // the broker ended this consumer, as when its queue moves
      if (this.stopping || this.channel !== channel) return;
      this.waiting.push(raw);
      this.working ??= this.work().finally(() => {
        this.working = undefined;
      });
    });
    this.subscription = { tag, isCareful };
  }

  private async unsubscribe(channel: ConfirmChannel): Promise<void> {
    if (this.subscription !== undefined) await channel.cancel(this.subscription.tag);
    this.subscription = undefined;
  }

  private async work(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve)); // what came in the same frame makes one batch
    while (this.waiting.length > 0) {
      const channel = this.channel;
      const batch = this.waiting.splice(0, this.nextBatchSize());
      if (channel !== undefined) await this.handleOrReconnect(channel, batch);
    }
  }

  /** A message that was delivered before may have killed its process: it is handled alone. */
  private nextBatchSize(): number {
    const { batchSize } = this.options;
    const redelivered = this.waiting.slice(0, batchSize).findIndex((raw) => raw.fields.redelivered);
    return redelivered === -1 ? batchSize : Math.max(redelivered, 1);
  }

  /** What could neither be handled nor set aside comes once more on a new connection. */
  private async handleOrReconnect(channel: ConfirmChannel, batch: readonly ConsumeMessage[]): Promise<void> {
    try {
      const [first] = batch;
      if (this.isFirstInOrder && first !== undefined && deathsOf(first) >= maxDeathsInOrder)
        await this.handling.setAside(channel, first, `ended its consumer ${deathsOf(first)} times`);
      else await this.handling.handle(channel, batch);
      this.isFirstInOrder = false;
    } catch (error) {
      this.logger.error(
        { error, queue: this.options.queue },
        'Messages could not be set aside; taking them again.',
      );
      this.waiting = [];
      // Each return counts for all messages in hand: during an outage of the database they return once.
      this.broker.reconnect(isOutage(error) ? () => this.ping() : undefined);
    }
  }

  /**
   * RabbitMQ is reached and the database is not: another replica may reach it. A database that responds to a ping is everybody's trouble, so
   * the messages stay.
   */
  private async returnMessages(): Promise<boolean> {
    const responds = await this.ping().then(
      () => true,
      () => false,
    );
    if (responds) return false;
    this.logger.error(
      { queue: this.options.queue },
      'The database cannot be reached; its messages are returned to RabbitMQ until it can.',
    );
    this.waiting = [];
    this.broker.reconnect(() => this.ping());
    return true;
  }

  private ping(): Promise<void> {
    const { ping = () => this.database.ping() } = this.options;
    return Promise.race([
      ping(),
      delay(pingWithinMs, undefined, { ref: false }).then(() => {
        throw new Error('The database did not respond to a ping.');
      }),
    ]);
  }

  /** On a channel that is gone nothing can be acknowledged: the broker delivers the message once more, and the inbox knows it. */
  private async acknowledge(
    channel: ConfirmChannel,
    raw: ConsumeMessage,
    { andAllBefore = false } = {},
  ): Promise<void> {
    if (this.channel !== channel) return;
    try {
      // The subscription ends before the acknowledgement, while this message is the only one that may be in hand: else the next
      // single active consumer and this one would each have one.
      const isFirstNew = this.subscription?.isCareful === true && !raw.fields.redelivered;
      if (isFirstNew) await this.unsubscribe(channel);
      channel.ack(raw, andAllBefore);
      if (isFirstNew) await this.subscribe(channel, { isCareful: false });
    } catch (error) {
      this.logger.warn(
        { error, queue: this.options.queue },
        'A message was handled when its channel had gone.',
      );
    }
  }
}

/** How often a connection ended with the message in hand. */
function deathsOf(raw: ConsumeMessage): number {
  const count: unknown = raw.properties.headers?.['x-delivery-count'];
  return typeof count === 'number' ? count : 0;
}
