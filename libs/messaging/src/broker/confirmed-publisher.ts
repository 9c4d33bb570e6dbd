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
 * the channel, since `confirm` waits for all messages of the channel.
 */
export class ConfirmedPublisher {
  /** Whether RabbitMQ returned a message since the last `confirm`, because no queue receives it. */
  private hasReturned = false;
  private readonly channel: ConfirmChannel;

  constructor(channel: ConfirmChannel) {
    this.channel = channel;
    channel.on('error', () => undefined); // the current call rejects
    channel.on('return', () => {
      this.hasReturned = true;
    });
  }

  publish({ exchange, routingKey, content, messageId, headers }: OutgoingMessage): void {
    this.channel.publish(exchange, routingKey, content, {
      persistent: true,
      mandatory: true,
      contentType: 'application/json',
      ...(headers !== undefined && { headers }),
      ...(typeof messageId === 'string' &&
        Buffer.byteLength(messageId) <= maxShortStringBytes && { messageId }),
    });
  }

  /**
   * Resolves when RabbitMQ has confirmed all published messages. Returns whether each of them is in a queue.
   * @throws Error when RabbitMQ does not confirm within 10 s
   */
  async confirm(): Promise<boolean> {
    try {
      await waitForConfirmation(this.channel); // returned messages arrive before their confirmation
      return !this.hasReturned;
    } finally {
      this.hasReturned = false;
    }
  }
}

/** Resolves when RabbitMQ has confirmed all messages of the channel. Rejects on a nack, and after 10 s. */
export async function waitForConfirmation(channel: ConfirmChannel): Promise<void> {
  await resolveWithin(confirmTimeoutMs, channel.waitForConfirms(), () => {
    throw new Error(`RabbitMQ did not confirm the messages within ${confirmTimeoutMs} ms.`);
  });
}
