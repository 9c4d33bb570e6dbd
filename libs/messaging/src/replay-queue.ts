import { type Message, type MessageQueue, topologyOf } from '@fulfilment/contracts';
import type { ChannelModel, ConfirmChannel } from 'amqplib';
import { setTimeout as delay } from 'node:timers/promises';
import { close } from './broker/close.js';
import { connect } from './broker/connect.js';
import { ConfirmedPublisher } from './broker/confirmed-publisher.js';

/** `write` waits while this many messages are queued: a few seconds of work, and little memory. */
const maxQueued = 2_000;
const pollIntervalMs = 20;
const defaultStallTimeoutMs = 60_000;

/** Publishes to the queue of one consumer, so that no other service receives it. Close it after use. */
export class ReplayQueue {
  private readonly publisher: ConfirmedPublisher;

  private constructor(
    private readonly connection: ChannelModel,
    private readonly channel: ConfirmChannel,
    private readonly queue: string,
    private readonly stallTimeoutMs: number,
  ) {
    this.publisher = new ConfirmedPublisher(channel);
  }

  /**
   * @param settings.stallTimeoutMs `write` fails when a full queue has not shrunk for this long, by default
   *   60 s
   * @throws Error when the broker is unreachable
   */
  static async open(
    settings: { readonly url: string; readonly namespace: string; readonly stallTimeoutMs?: number },
    queue: MessageQueue,
  ): Promise<ReplayQueue> {
    const connection = await connect(settings.url);
    const channel = await connection.createConfirmChannel();
    const { stallTimeoutMs = defaultStallTimeoutMs } = settings;
    const name = topologyOf(settings.namespace).queue(queue);
    return new ReplayQueue(connection, channel, name, stallTimeoutMs);
  }

  close(): Promise<void> {
    return close(this.connection);
  }

  /**
   * Waits until the queue has capacity, then resolves when RabbitMQ has confirmed the messages.
   * @throws Error when a full queue does not shrink, or does not exist
   */
  async write(messages: readonly Message[]): Promise<void> {
    await this.waitForCapacity();
    const areQueued = await this.publisher.publish(
      messages.map((message) => ({
        exchange: '',
        routingKey: this.queue,
        content: Buffer.from(JSON.stringify(message)),
        messageId: message.id,
      })),
    );
    if (!areQueued) throw new Error(`RabbitMQ has no queue ${this.queue}.`);
  }

  private async waitForCapacity(): Promise<void> {
    let minCount = Infinity;
    let deadlineMs = performance.now() + this.stallTimeoutMs;
    for (;;) {
      const { messageCount } = await this.channel.checkQueue(this.queue);
      if (messageCount < maxQueued) return;
      if (messageCount < minCount) {
        minCount = messageCount;
        deadlineMs = performance.now() + this.stallTimeoutMs;
      }
      if (performance.now() > deadlineMs)
        throw new Error(`The queue ${this.queue} does not shrink. Check that its consumer is running.`);
      await delay(pollIntervalMs);
    }
  }
}
