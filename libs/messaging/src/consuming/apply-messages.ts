import { InvalidMessage, type Message, type MessageQueue, parseMessage } from '@fulfilment/contracts';
import { type Database, timeoutName } from '@fulfilment/database';
import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { Counter, type Logger } from '@fulfilment/runtime';
import type { ConfirmChannel, ConsumeMessage } from 'amqplib';
import { setTimeout as delay } from 'node:timers/promises';
import type { Limit } from './limit.js';
import type { MessageConsumer } from './message-consumer.js';
import type { HandlerCallbacks, MessageHandler } from './message-handler.js';
import { inMessageSpans } from '../message-spans.js';
import { isReplayed, deadLetterOf } from '../dead-letters/dead-letter-message.js';
import type { RetryingPublisher } from './retrying-publisher.js';
import { claimMessages, hasMessagesOfDroppedDays, olderThanInbox, recordRejection } from '../inbox/inbox.js';

const defaultRetryDelayMs = { min: 100, max: 5_000 };
const defaultRequeueAfterMs = 15_000;
/** A message is rejected when this many attempts to handle it have failed with unexpected errors. */
const maxUnexpectedErrors = 5;
/** The same for timeouts. It is higher, since an outage or another transaction's lock may also cause them. */
const maxTimeouts = 12;
/** A reason is also an AMQP header, for which RabbitMQ allows 128 KiB. */
const maxReasonCharacters = 2_000;

const handled = new Counter({
  name: 'messages_handled_total',
  help: 'Messages consumed from a queue, by outcome.',
  labelNames: ['queue', 'outcome'],
});

// The outcomes are public metric labels; `refused` counts rejected messages. words: public label
/** Starts the counters at 0, so that the first message is an increase, which alerts need. */
export function startCounting(queue: MessageQueue): void {
  for (const outcome of ['applied', 'refused']) handled.inc({ queue, outcome }, 0);
}

/** Thrown by a handler to reject a message: it is dead-lettered with the reason and not retried. */
export class RejectedMessage extends Error {
  override readonly name = 'RejectedMessage';
}

/** Thrown if a message must not share its transaction. Its batch is then handled message by message. */
export class NeedsOwnTransaction extends Error {
  override readonly name = 'NeedsOwnTransaction';
}

export interface HandlingTimes {
  /**
   * Time without its database after which a replica requeues its messages, for another replica. By default
   * 15 s: requeueing takes less than 30 s, with the timeouts of a running statement (9.6 s: `query_timeout`
   * in libs/database) and of a ping (3 s: `pingTimeoutMs`).
   */
  readonly requeueAfterMs?: number;
  /** Delays between two attempts to handle a message, doubled each time. Default: 100 ms to 5 s. */
  readonly retryDelayMs?: { readonly min: number; readonly max: number };
}

export interface HandlingOptions extends HandlerCallbacks, HandlingTimes {
  /** Limits the concurrent transactions of a lane. The consumers of its shards share the limit. */
  readonly limit?: Limit | undefined;
}

interface ReceivedMessage {
  readonly raw: ConsumeMessage;
  readonly message: Message;
}

/**
 * Applies messages in batches. Retries a failed batch in smaller batches or message by message. A message
 * that fails too often by itself is dead-lettered with a reason.
 */
export class ApplyMessages implements MessageHandler {
  /** Start of the first transaction that met the current outage (`performance.now()`). */
  private outageSinceMs: number | undefined;

  constructor(
    private readonly consumer: MessageConsumer,
    private readonly database: Database,
    private readonly publisher: RetryingPublisher,
    private readonly logger: Logger,
    private readonly options: HandlingOptions,
  ) {}

  async handle(channel: ConfirmChannel, rawMessages: readonly ConsumeMessage[]): Promise<void> {
    const received: ReceivedMessage[] = [];
    for (const raw of rawMessages) {
      try {
        received.push({ raw, message: parseMessage(raw.content) });
      } catch (error) {
        if (!(error instanceof InvalidMessage)) throw error;
        await this.deadLetter(channel, raw, error.message);
      }
    }
    for (const batch of this.splitIntoTransactions(received)) {
      if (this.options.acceptsWork(channel)) await this.handleBatch(channel, batch);
    }
  }

  async deadLetter(channel: ConfirmChannel, raw: ConsumeMessage, cause: string): Promise<void> {
    const { queue } = this.consumer;
    const messageId = idOf(raw);
    // A cause may name an unknown member of the message, whose name may be any text.
    const reason = cause.replaceAll('\0', '\uFFFD').slice(0, maxReasonCharacters);
    this.logger.error({ queue, message_id: messageId, reason }, 'A message was rejected.');
    handled.inc({ queue, outcome: 'refused' });
    const acceptsWork = () => this.options.acceptsWork(channel);
    const deadLetter = deadLetterOf(this.publisher.topology, queue, raw, reason);
    if (!(await this.publisher.publish([deadLetter], acceptsWork))) return;
    if (messageId !== undefined) await recordRejection(this.database, queue, messageId, reason);
    await this.options.acknowledge(channel, raw);
  }

  /** Returns the batch of each transaction. */
  private splitIntoTransactions(allReceived: readonly ReceivedMessage[]): ReceivedMessage[][] {
    const batches: ReceivedMessage[][] = [];
    let lastBatchMayGrow = false;
    for (const received of allReceived) {
      const mayShare = this.consumer.mayShareTransaction(received.message);
      if (mayShare && lastBatchMayGrow) batches.at(-1)?.push(received);
      else batches.push([received]);
      lastBatchMayGrow = mayShare;
    }
    return batches;
  }

  private async handleBatch(channel: ConfirmChannel, batch: readonly ReceivedMessage[]): Promise<void> {
    try {
      await this.apply(batch);
    } catch (error) {
      if (batch.length > 1 && !(error instanceof NeedsOwnTransaction))
        this.logger.warn(
          { error, queue: this.consumer.queue },
          'A batch of messages failed; retrying them in smaller batches.',
        );
      return error instanceof DependencyUnavailable
        ? this.handleAfterOutage(channel, batch)
        : this.handleEach(channel, batch);
    }
    await this.acknowledge(channel, batch);
  }

  /**
   * Retries the first message until the outage is over. The others follow in two halves, since the batch may
   * have been too large for a timeout of PostgreSQL.
   */
  private async handleAfterOutage(channel: ConfirmChannel, batch: readonly ReceivedMessage[]): Promise<void> {
    await this.handleEach(channel, batch.slice(0, 1));
    const middle = Math.ceil((batch.length + 1) / 2);
    for (const half of [batch.slice(1, middle), batch.slice(middle)]) {
      if (half.length > 0 && this.options.acceptsWork(channel)) await this.handleBatch(channel, half);
    }
  }

  private async handleEach(channel: ConfirmChannel, batch: readonly ReceivedMessage[]): Promise<void> {
    for (const received of batch) await this.handleSingle(channel, received);
  }

  /** Retries one message until it is applied, dead-lettered or requeued, or its channel is closed. */
  private async handleSingle(channel: ConfirmChannel, received: ReceivedMessage): Promise<void> {
    const { min, max } = this.options.retryDelayMs ?? defaultRetryDelayMs;
    const failures = { unexpected: 0, timeouts: 0 };
    for (let delayMs = min; this.options.acceptsWork(channel); delayMs = Math.min(delayMs * 2, max)) {
      try {
        await this.apply([received]);
      } catch (error) {
        const rejectionReason = rejectionReasonAfter(error, failures);
        if (rejectionReason !== undefined) return this.deadLetter(channel, received.raw, rejectionReason);
        this.logger.error(
          { error, queue: this.consumer.queue, message_id: received.message.id },
          'A message could not be handled; will retry.',
        );
        if (this.isOutageTooLong && (await this.options.requeueUnlessDatabaseResponds())) return;
        await delay(delayMs);
        continue;
      }
      return this.acknowledge(channel, [received]);
    }
  }

  private get isOutageTooLong(): boolean {
    const { requeueAfterMs = defaultRequeueAfterMs } = this.options;
    return this.outageSinceMs !== undefined && performance.now() - this.outageSinceMs >= requeueAfterMs;
  }

  private async apply(batch: readonly ReceivedMessage[]): Promise<void> {
    const startedAtMs = performance.now();
    const { limit } = this.options;
    const work = () => this.applyInTransaction(batch);
    try {
      await (limit === undefined ? work() : limit.run(work));
      this.outageSinceMs = undefined;
    } catch (error) {
      if (error instanceof DependencyUnavailable) this.outageSinceMs ??= startedAtMs;
      else this.outageSinceMs = undefined;
      throw error;
    }
  }

  private async applyInTransaction(batch: readonly ReceivedMessage[]): Promise<void> {
    const { queue } = this.consumer;
    // A batch may contain a message twice, since messages are published at least once.
    const messagesById = new Map(batch.map(({ message }) => [message.id, message]));
    await inMessageSpans(queue, [...messagesById.values()], (messages, span) =>
      this.database.transaction(
        async (tx) => {
          const notReplayed = batch.filter(({ raw }) => !isReplayed(raw));
          if (await hasMessagesOfDroppedDays(tx, queue, idsOf(notReplayed)))
            throw batch.length > 1 ? new NeedsOwnTransaction() : new RejectedMessage(olderThanInbox);
          const newIds = await claimMessages(tx, queue, idsOf(batch));
          await this.consumer.handle(
            tx,
            messages.filter((message) => newIds.has(message.id)),
          );
        },
        { span },
      ),
    );
  }

  private async acknowledge(channel: ConfirmChannel, batch: readonly ReceivedMessage[]): Promise<void> {
    handled.inc({ queue: this.consumer.queue, outcome: 'applied' }, batch.length);
    const last = batch.at(-1);
    // Messages are handled in order, so all messages before the last one are done.
    if (last !== undefined) await this.options.acknowledge(channel, last.raw, { allUpTo: true });
  }
}

/**
 * Returns the reason to reject a message after a failed attempt; undefined if it is to be retried.
 * @param failures counts of its failed attempts; an unexpected failure or a timeout is added
 */
function rejectionReasonAfter(
  error: unknown,
  failures: { unexpected: number; timeouts: number },
): string | undefined {
  if (error instanceof RejectedMessage) return error.message;
  const timeout = timeoutName(error);
  if (timeout !== undefined) {
    failures.timeouts += 1;
    return failures.timeouts < maxTimeouts
      ? undefined
      : `took too long: ${timeout} in ${maxTimeouts} attempts`;
  }
  if (error instanceof DependencyUnavailable) return undefined;
  failures.unexpected += 1;
  return failures.unexpected < maxUnexpectedErrors ? undefined : 'failed; see the logs of the service';
}

function idsOf(batch: readonly ReceivedMessage[]): string[] {
  return batch.map(({ message }) => message.id);
}

function idOf(raw: ConsumeMessage): string | undefined {
  try {
    return parseMessage(raw.content).id;
  } catch (error) {
    return error instanceof InvalidMessage ? error.messageId : undefined;
  }
}
