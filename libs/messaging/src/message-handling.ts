import {
  InvalidMessage,
  type Message,
  type MessageQueue,
  parseMessage,
  type Topology,
} from '@fulfilment/contracts';
import type { Database, Transaction } from '@fulfilment/database';
import { isOutage } from '@fulfilment/error-envelope';
import { Counter, type Logger, metrics } from '@fulfilment/runtime';
import type { ConfirmChannel, ConsumeMessage } from 'amqplib';
import { setTimeout as delay } from 'node:timers/promises';
import { publishDeadLetter } from './dead-letters.js';
import { claimMessages, recordRefusal } from './inbox.js';

const defaultRetryMs = { first: 100, last: 5_000 };
const defaultReturnAfterMs = 15_000;
const maxTriesOfUnforeseenError = 5;
const maxTriesOfTimeLimit = 12;

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

export type HandleMessages = (tx: Transaction, messages: readonly Message[]) => Promise<void>;

/** What the handling of messages needs of their consumer. */
export interface HandlingOptions {
  readonly acknowledge: (
    channel: ConfirmChannel,
    raw: ConsumeMessage,
    scope?: { readonly andAllBefore: boolean },
  ) => Promise<void>;
  /** Whether messages of this channel are still ours. */
  readonly isOpen: (channel: ConfirmChannel) => boolean;
  /** Called when the database has been away for too long. Resolves to whether the messages were returned to RabbitMQ. */
  readonly returnMessages: () => Promise<boolean>;
  readonly returnAfterMs?: number;
  readonly retryMs?: { readonly first: number; readonly last: number };
}

interface Delivery {
  readonly raw: ConsumeMessage;
  readonly message: Message;
}

/** Applies messages in batches; finds the ones that fail, retries them and sets them aside with a reason. */
export class MessageHandling {
  /** When the work began that an outage ended, until work succeeds; in ms of `performance.now()`. */
  private awaySinceMs: number | undefined;

  constructor(
    private readonly consumer: { readonly queue: MessageQueue; readonly handle: HandleMessages },
    private readonly database: Database,
    private readonly topology: Topology,
    private readonly logger: Logger,
    private readonly options: HandlingOptions,
  ) {}

  /** Resolves when each message is applied, set aside, or no longer ours. @throws when one could not be set aside */
  async handle(channel: ConfirmChannel, batch: readonly ConsumeMessage[]): Promise<void> {
    const deliveries: Delivery[] = [];
    for (const raw of batch) {
      try {
        deliveries.push({ raw, message: parseMessage(raw.content) });
      } catch (error) {
        if (!(error instanceof InvalidMessage)) throw error;
        await this.reject(channel, raw, error.message, error.messageId);
      }
    }
    if (deliveries.length > 0) await this.handleTogether(channel, deliveries);
  }

  /** Puts a message into the dead letters without trying it. */
  async setAside(channel: ConfirmChannel, raw: ConsumeMessage, reason: string): Promise<void> {
    await this.reject(channel, raw, reason, idOf(raw));
  }

  private async handleTogether(channel: ConfirmChannel, deliveries: readonly Delivery[]): Promise<void> {
    try {
      await this.apply(deliveries);
    } catch (error) {
      if (deliveries.length > 1)
        this.logger.warn(
          { error, queue: this.consumer.queue },
          'A batch failed; its messages are tried again.',
        );
      return isOutage(error)
        ? this.handleAfterOutage(channel, deliveries)
        : this.handleEach(channel, deliveries);
    }
    await this.acknowledge(channel, deliveries);
  }

  /** The first is tried alone until its end. The others go together in halves: it may have been their number that took too long. */
  private async handleAfterOutage(channel: ConfirmChannel, deliveries: readonly Delivery[]): Promise<void> {
    await this.handleEach(channel, deliveries.slice(0, 1));
    const middle = Math.ceil((deliveries.length + 1) / 2);
    for (const part of [deliveries.slice(1, middle), deliveries.slice(middle)]) {
      if (part.length > 0 && this.options.isOpen(channel)) await this.handleTogether(channel, part);
    }
  }

  private async handleEach(channel: ConfirmChannel, deliveries: readonly Delivery[]): Promise<void> {
    for (const delivery of deliveries) await this.handleAlone(channel, delivery);
  }

  /** One message until it is applied, set aside or returned. Only errors of its own count as tries, never an outage. */
  private async handleAlone(channel: ConfirmChannel, delivery: Delivery): Promise<void> {
    const { retryMs: { first, last } = defaultRetryMs } = this.options;
    const tries = { unforeseen: 0, timeLimit: 0 };
    for (let retryMs = first; this.options.isOpen(channel); retryMs = Math.min(retryMs * 2, last)) {
      const error = await this.tryAlone(channel, delivery);
      if (error === undefined) return;
      const reason = reasonToReject(error, tries);
      if (reason !== undefined) return this.reject(channel, delivery.raw, reason, delivery.message.id);
      this.logger.error(
        { error, queue: this.consumer.queue, message_id: delivery.message.id },
        'A message could not be handled.',
      );
      if (this.hasBeenAwayTooLong && (await this.options.returnMessages())) return;
      await delay(retryMs);
    }
  }

  /** @returns what failed; undefined when the message is applied */
  private async tryAlone(channel: ConfirmChannel, delivery: Delivery): Promise<object | undefined> {
    try {
      await this.apply([delivery]);
    } catch (error) {
      return typeof error === 'object' && error !== null ? error : new Error(String(error));
    }
    await this.acknowledge(channel, [delivery]);
    return undefined;
  }

  private get hasBeenAwayTooLong(): boolean {
    const { returnAfterMs = defaultReturnAfterMs } = this.options;
    return this.awaySinceMs !== undefined && performance.now() - this.awaySinceMs >= returnAfterMs;
  }

  private async apply(deliveries: readonly Delivery[]): Promise<void> {
    const startedAtMs = performance.now();
    try {
      await this.applyInTransaction(deliveries);
      this.awaySinceMs = undefined;
    } catch (error) {
      if (isOutage(error)) this.awaySinceMs ??= startedAtMs;
      else this.awaySinceMs = undefined;
      throw error;
    }
  }

  private async applyInTransaction(deliveries: readonly Delivery[]): Promise<void> {
    await this.database.transaction(async (tx) => {
      const fresh = await claimMessages(
        tx,
        this.consumer.queue,
        deliveries.map(({ message }) => message.id),
      );
      const messages = new Map(deliveries.map(({ message }) => [message.id, message]));
      await this.consumer.handle(
        tx,
        [...messages.values()].filter((message) => fresh.has(message.id)),
      );
    });
  }

  private async acknowledge(channel: ConfirmChannel, deliveries: readonly Delivery[]): Promise<void> {
    handled.inc({ queue: this.consumer.queue, outcome: 'applied' }, deliveries.length);
    const last = deliveries.at(-1);
    // With all before it: messages are handled in the order they came, so none of those is still in hand.
    if (last !== undefined) await this.options.acknowledge(channel, last.raw, { andAllBefore: true });
  }

  private async reject(
    channel: ConfirmChannel,
    raw: ConsumeMessage,
    reason: string,
    messageId?: string,
  ): Promise<void> {
    const { queue } = this.consumer;
    this.logger.error({ queue, message_id: messageId, reason }, 'A message was refused.');
    handled.inc({ queue, outcome: 'refused' });
    await publishDeadLetter(channel, this.topology, queue, raw, reason);
    if (messageId !== undefined) await recordRefusal(this.database, queue, messageId, reason);
    await this.options.acknowledge(channel, raw);
  }
}

/** Counts a failed try. @returns why the message is set aside, once it has failed too often by an error of its own */
function reasonToReject(error: object, tries: { unforeseen: number; timeLimit: number }): string | undefined {
  if (error instanceof RefusedMessage) return error.message;
  const limit = timeLimitOf(error);
  if (limit !== undefined) {
    tries.timeLimit += 1;
    return tries.timeLimit < maxTriesOfTimeLimit
      ? undefined
      : `took too long: ${limit} in ${maxTriesOfTimeLimit} tries`;
  }
  if (isOutage(error)) return undefined;
  tries.unforeseen += 1;
  return tries.unforeseen < maxTriesOfUnforeseenError ? undefined : 'failed: see the logs of the service';
}

/** SQLSTATEs that look like an outage, since a retry may succeed, and may as well be a fault of the one message. */
const timeLimits: ReadonlyMap<unknown, string> = new Map([
  ['57014', 'statement timeout'],
  ['55P03', 'lock timeout'],
]);

function timeLimitOf(error: object): string | undefined {
  return timeLimits.get(Reflect.get(error, 'code'));
}

function idOf(raw: ConsumeMessage): string | undefined {
  try {
    return parseMessage(raw.content).id;
  } catch (error) {
    return error instanceof InvalidMessage ? error.messageId : undefined;
  }
}
