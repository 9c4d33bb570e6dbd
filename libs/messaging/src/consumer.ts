import { InvalidMessage, type Message, type MessageQueue, parseMessage } from '@fulfilment/contracts';
import type { Database, Transaction } from '@fulfilment/database';
import { isOutage } from '@fulfilment/error-envelope';
import { Counter, type Logger, metrics } from '@fulfilment/runtime';
import type { ConfirmChannel, ConsumeMessage } from 'amqplib';
import { setTimeout as delay } from 'node:timers/promises';
import type { Broker } from './broker.js';
import { claimMessages, recordRefusal } from './inbox.js';
import { publishDeadLetter } from './dead-letters.js';

const firstRetryMs = 100;
const lastRetryMs = 5_000;
const triesOfAnUnforeseenError = 5;

const handled = new Counter({
  name: 'messages_handled_total',
  help: 'Messages taken from a queue, by outcome.',
  labelNames: ['queue', 'outcome'],
  registers: [metrics],
});

/** Thrown by a handler when a message makes no sense here: it is set aside with its reason, harms nothing and is not tried again. */
export class RefusedMessage extends Error {
  override readonly name = 'RefusedMessage';
}

export interface ConsumerOptions {
  readonly queue: MessageQueue;
  /** Most messages handled in one transaction. */
  readonly batchSize: number;
  /** The effect of messages that were not handled before, in the order they came. In the same transaction as their inbox rows. */
  readonly handle: (tx: Transaction, messages: readonly Message[]) => Promise<void>;
}

interface Delivery {
  readonly raw: ConsumeMessage;
  readonly message: Message;
}

/**
 * Takes messages from a queue: inbox rows and effects in one commit, then the acknowledgement. A message may come twice or late;
 * its effect happens once. While the database is away the messages in hand wait; nothing is thrown back at the broker.
 */
export class Consumer {
  private waiting: ConsumeMessage[] = [];
  private channel: ConfirmChannel | undefined;
  private working: Promise<void> | undefined;
  private stopping = false;

  constructor(
    private readonly options: ConsumerOptions,
    private readonly database: Database,
    private readonly broker: Broker,
    private readonly logger: Logger,
  ) {
    broker.use((channel) => this.open(channel));
  }

  /** Takes nothing more and resolves when what was in hand is done. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.waiting = [];
    await this.working;
  }

  private async open(channel: ConfirmChannel): Promise<void> {
    this.channel = channel;
    channel.on('close', () => {
      if (this.channel === channel) this.channel = undefined;
    });
    this.waiting = []; // unacknowledged on the old channel: the broker sends them again
    await channel.prefetch(this.options.batchSize * 2);
    await channel.consume(this.broker.topology.queue(this.options.queue), (raw) => {
      if (raw === null) return this.broker.reconnect(); // the broker ended this consumer, as when its queue moves
      if (this.stopping || this.channel !== channel) return;
      this.waiting.push(raw);
      this.working ??= this.work().finally(() => {
        this.working = undefined;
      });
    });
  }

  private async work(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve)); // what came in the same frame makes one batch
    while (this.waiting.length > 0) {
      const channel = this.channel;
      const batch = this.waiting.splice(0, this.options.batchSize);
      if (channel !== undefined) await this.handleOrReconnect(channel, batch);
    }
  }

  /** What could neither be handled nor set aside comes again on a new connection. */
  private async handleOrReconnect(channel: ConfirmChannel, batch: readonly ConsumeMessage[]): Promise<void> {
    try {
      await this.handleBatch(channel, batch);
    } catch (error) {
      this.logger.error(
        { error, queue: this.options.queue },
        'Messages could not be set aside; taking them again.',
      );
      this.waiting = [];
      this.broker.reconnect();
    }
  }

  private async handleBatch(channel: ConfirmChannel, batch: readonly ConsumeMessage[]): Promise<void> {
    const deliveries: Delivery[] = [];
    for (const raw of batch) {
      try {
        deliveries.push({ raw, message: parseMessage(raw.content) });
      } catch (error) {
        if (!(error instanceof InvalidMessage)) throw error;
        await this.refuse(channel, raw, error.message, error.messageId);
      }
    }
    if (deliveries.length > 0) await this.handleTogether(channel, deliveries);
  }

  private async handleTogether(channel: ConfirmChannel, deliveries: readonly Delivery[]): Promise<void> {
    try {
      await this.apply(deliveries);
      this.acknowledge(channel, deliveries);
    } catch (error) {
      if (deliveries.length > 1)
        this.logger.warn(
          { error, queue: this.options.queue },
          'A batch failed; its messages are tried again.',
        );
      await (isOutage(error)
        ? this.handleAfterOutage(channel, deliveries)
        : this.handleEach(channel, deliveries));
    }
  }

  /** The first waits alone for its end. The others go together again, in halves: it may have been their number that took too long. */
  private async handleAfterOutage(channel: ConfirmChannel, deliveries: readonly Delivery[]): Promise<void> {
    await this.handleEach(channel, deliveries.slice(0, 1));
    const middle = Math.ceil((deliveries.length + 1) / 2);
    for (const part of [deliveries.slice(1, middle), deliveries.slice(middle)]) {
      const goesOn = part.length > 0 && !this.stopping && this.channel === channel;
      if (goesOn) await this.handleTogether(channel, part);
    }
  }

  private async handleEach(channel: ConfirmChannel, deliveries: readonly Delivery[]): Promise<void> {
    for (const delivery of deliveries) await this.handleAlone(channel, delivery);
  }

  /** One message until it is applied or refused. */
  private async handleAlone(channel: ConfirmChannel, delivery: Delivery): Promise<void> {
    let retryMs = firstRetryMs;
    for (let tries = 1; !this.stopping && this.channel === channel;) {
      try {
        await this.apply([delivery]);
        this.acknowledge(channel, [delivery]);
        return;
      } catch (error) {
        if (error instanceof RefusedMessage)
          return this.refuse(channel, delivery.raw, error.message, delivery.message.id);
        this.logger.error(
          { error, queue: this.options.queue, message_id: delivery.message.id },
          'A message could not be handled.',
        );
        if (!isOutage(error) && tries >= triesOfAnUnforeseenError) {
          return this.refuse(
            channel,
            delivery.raw,
            'failed: see the logs of the service',
            delivery.message.id,
          );
        }
        if (!isOutage(error)) tries += 1;
        await delay(retryMs);
        retryMs = Math.min(retryMs * 2, lastRetryMs);
      }
    }
  }

  private async apply(deliveries: readonly Delivery[]): Promise<void> {
    await this.database.transaction(async (tx) => {
      const fresh = await claimMessages(
        tx,
        this.options.queue,
        deliveries.map(({ message }) => message.id),
      );
      const messages = new Map(deliveries.map(({ message }) => [message.id, message]));
      await this.options.handle(
        tx,
        [...messages.values()].filter((message) => fresh.has(message.id)),
      );
    });
  }

  private acknowledge(channel: ConfirmChannel, deliveries: readonly Delivery[]): void {
    handled.inc({ queue: this.options.queue, outcome: 'applied' }, deliveries.length);
    const last = deliveries.at(-1);
    // With all before it: messages are handled in the order they came, so none of those is still in hand.
    if (last !== undefined) this.ack(channel, last.raw, { andAllBefore: true });
  }

  private async refuse(
    channel: ConfirmChannel,
    raw: ConsumeMessage,
    reason: string,
    messageId?: string,
  ): Promise<void> {
    this.logger.error({ queue: this.options.queue, message_id: messageId, reason }, 'A message was refused.');
    handled.inc({ queue: this.options.queue, outcome: 'refused' });
    await publishDeadLetter(channel, this.broker.topology, this.options.queue, raw, reason);
    if (messageId !== undefined) await recordRefusal(this.database, this.options.queue, messageId, reason);
    this.ack(channel, raw);
  }

  /** On a channel that is gone there is nothing to say: the broker sends the message again, and the inbox knows it. */
  private ack(channel: ConfirmChannel, raw: ConsumeMessage, { andAllBefore = false } = {}): void {
    if (this.channel !== channel) return;
    try {
      channel.ack(raw, andAllBefore);
    } catch (error) {
      this.logger.warn(
        { error, queue: this.options.queue },
        'A message was handled when its channel had gone.',
      );
    }
  }
}
