import { type Message, type MessageQueue, topologyOf } from '@fulfilment/contracts';
import { type ConfirmChannel, connect } from 'amqplib';
import { setTimeout as delay } from 'node:timers/promises';
import { confirmed } from './confirmed.js';

/** How many may wait in the queue before more are written: seconds of work for its consumer, and little for the broker to keep. */
const room = 2_000;
const lookEveryMs = 20;
const stalledAfterMs = 60_000;

/** The way to one consumer's queue past the exchange, so that nobody else is told. Close it after use. */
export class ReplayQueue {
  private returned = false;
  private readonly channel: ConfirmChannel;
  private readonly queue: string;
  private readonly giveUpAfterMs: number;
  readonly close: () => Promise<void>;

  private constructor(
    channel: ConfirmChannel,
    { queue, giveUpAfterMs }: { queue: string; giveUpAfterMs: number },
    close: () => Promise<void>,
  ) {
    this.channel = channel;
    this.queue = queue;
    this.giveUpAfterMs = giveUpAfterMs;
    this.close = close;
    channel.on('return', () => {
      this.returned = true;
    });
    channel.on('error', () => undefined); // the call under way says so
  }

  /**
   * @param settings.giveUpAfterMs how long a full queue may stay as it is before its consumer counts as away
   * @throws Error when the broker cannot be reached
   */
  static async open(
    settings: { readonly url: string; readonly namespace: string; readonly giveUpAfterMs?: number },
    queue: MessageQueue,
  ): Promise<ReplayQueue> {
    const connection = await connect(settings.url, { timeout: 5_000 });
    connection.on('error', () => undefined);
    const channel = await connection.createConfirmChannel();
    const { giveUpAfterMs = stalledAfterMs } = settings;
    const name = topologyOf(settings.namespace).queue(queue);
    return new ReplayQueue(channel, { queue: name, giveUpAfterMs }, () => connection.close());
  }

  /** Resolves when RabbitMQ has the messages. Waits for room first. @throws Error when the consumer takes nothing for too long */
  async write(messages: readonly Message[]): Promise<void> {
    await this.waitForRoom();
    for (const message of messages) {
      this.channel.publish('', this.queue, Buffer.from(JSON.stringify(message)), {
        persistent: true,
        mandatory: true,
        messageId: message.id,
        contentType: 'application/json',
      });
    }
    await confirmed(this.channel); // a return comes before its confirmation
    if (this.returned) throw new Error(`The broker has no queue ${this.queue}.`);
  }

  private async waitForRoom(): Promise<void> {
    let least = Infinity;
    let stalledAtMs = performance.now() + this.giveUpAfterMs;
    for (;;) {
      const { messageCount } = await this.channel.checkQueue(this.queue);
      if (messageCount < room) return;
      if (messageCount < least) {
        least = messageCount;
        stalledAtMs = performance.now() + this.giveUpAfterMs;
      }
      if (performance.now() > stalledAtMs) throw new Error(`Nobody takes messages from ${this.queue}.`);
      await delay(lookEveryMs);
    }
  }
}
