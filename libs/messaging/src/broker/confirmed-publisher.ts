import { resolveWithin } from '@fulfilment/runtime';
import type { ConfirmChannel } from 'amqplib';

const confirmTimeoutMs = 10_000;
/** A received id may become longer: bytes that are not UTF-8 are decoded as U+FFFD, which has three bytes. */
const maxShortStringBytes = 255;

export interface OutgoingMessage {
  /** '' is RabbitMQ's default exchange, which routes to the queue that the routing key names. */
  readonly exchange: string;
  readonly routingKey: string;
  readonly content: Buffer;
  /** The id in the message's AMQP properties; ignored unless it is a string that AMQP allows. */
  readonly messageId?: unknown;
  readonly headers?: object;
}

/**
 * Publishes JSON on a channel, and detects messages that no queue receives. It must be the only publisher of
 * the channel, since a returned message does not name its batch.
 */
export class ConfirmedPublisher {
  /** Whether its channel is open. A closed channel is not opened again. */
  isOpen = true;
  /** Whether RabbitMQ returned a message of the current batch, because no queue receives it. */
  private hasReturned = false;
  /** Resolves when each message of the last batch is confirmed or rejected, or the channel has closed. */
  private lastBatch: Promise<unknown> = Promise.resolve();
  private readonly channel: ConfirmChannel;

  constructor(channel: ConfirmChannel) {
    this.channel = channel;
    channel.on('error', () => undefined); // the current call rejects
    channel.on('close', () => {
      this.isOpen = false;
    });
    channel.on('return', () => {
      this.hasReturned = true;
    });
  }

  /**
   * Publishes a batch. Resolves when RabbitMQ has confirmed all of its messages. Returns whether each of them
   * is in a queue. Call it for one batch at a time.
   * @throws Error when RabbitMQ rejects a message, or does not confirm this or the previous batch within 10 s
   */
  async publish(messages: readonly OutgoingMessage[]): Promise<boolean> {
    // While a queue has no majority, RabbitMQ keeps the last batch unconfirmed. Retries must not add copies.
    await waitFor(this.lastBatch);
    this.hasReturned = false;
    const confirmations = messages.map((message) => this.send(message));
    this.lastBatch = Promise.allSettled(confirmations);
    await waitFor(this.lastBatch); // returned messages arrive before their confirmation
    await Promise.all(confirmations);
    return !this.hasReturned;
  }

  /** Resolves when RabbitMQ has confirmed the message. */
  private async send({ exchange, routingKey, content, messageId, headers }: OutgoingMessage): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const options = {
      persistent: true,
      mandatory: true,
      contentType: 'application/json',
      ...(headers !== undefined && { headers }),
      ...(typeof messageId === 'string' &&
        Buffer.byteLength(messageId) <= maxShortStringBytes && { messageId }),
    };
    this.channel.publish(exchange, routingKey, content, options, (error: unknown) => {
      if (error === null) resolve();
      else reject(error);
    });
    return promise;
  }
}

async function waitFor(batch: Promise<unknown>): Promise<void> {
  await resolveWithin(confirmTimeoutMs, batch, () => {
    throw new Error(`RabbitMQ did not confirm the messages within ${confirmTimeoutMs} ms.`);
  });
}
