import { type MessageQueue, type ShardedTopology, shardOf } from '@fulfilment/contracts';
import { Counter, type Logger } from '@fulfilment/runtime';
import type { ConfirmChannel, ConsumeMessage } from 'amqplib';
import { setTimeout as delay } from 'node:timers/promises';
import type { Broker } from './broker.js';
import { ConfirmedPublisher } from './confirmed-publisher.js';
import type { HandlerCallbacks, MessageHandler } from './message-handling.js';
import { isReplayed, publishDeadLetter, replayHeaders } from './publish-dead-letter.js';

const retryDelayMs = 200;

const moved = new Counter({
  name: 'messages_moved_to_shards_total',
  help: 'Messages that were moved from the intake of a sharded queue to one of its shards.',
  labelNames: ['queue'],
});

/**
 * Moves the messages of an intake to their shards, in order. RabbitMQ has confirmed a message in its shard
 * before it is acknowledged at the intake. After a crash, messages may be moved a second time, but the first
 * copies stay in order, and the inbox ignores the others.
 */
export class MoveToShards implements MessageHandler {
  /** Undefined while the publishing connection is closed. */
  private publisher: ConfirmedPublisher | undefined;

  /**
   * @param publishing a connection on which nothing is consumed: RabbitMQ does not read from it while it is
   * short of memory
   */
  constructor(
    private readonly queue: MessageQueue,
    private readonly sharded: ShardedTopology,
    private readonly publishing: Broker,
    private readonly logger: Logger,
    private readonly consumer: HandlerCallbacks,
  ) {
    publishing.use((channel) => {
      const publisher = new ConfirmedPublisher(channel);
      this.publisher = publisher;
      channel.on('close', () => {
        if (this.publisher === publisher) this.publisher = undefined;
      });
      return Promise.resolve();
    });
  }

  async handle(channel: ConfirmChannel, batch: readonly ConsumeMessage[]): Promise<void> {
    while (this.consumer.isOpen(channel)) {
      try {
        if (await this.publish(batch)) break;
      } catch (error) {
        this.logger.warn({ error, queue: this.queue }, 'Messages could not be moved to shards; will retry.');
      }
      await delay(retryDelayMs, undefined, { ref: false });
    }
    const last = batch.at(-1);
    if (last === undefined || !this.consumer.isOpen(channel)) return;
    moved.inc({ queue: this.queue }, batch.length);
    await this.consumer.acknowledge(channel, last, { andAllBefore: true });
  }

  async deadLetter(channel: ConfirmChannel, raw: ConsumeMessage, reason: string): Promise<void> {
    await publishDeadLetter(channel, this.publishing.topology, this.queue, raw, reason);
    await this.consumer.acknowledge(channel, raw);
  }

  /**
   * @returns true when each message is confirmed in its shard; false while nothing can be published
   * @throws Error when a message is not confirmed, or a shard does not exist
   */
  private async publish(batch: readonly ConsumeMessage[]): Promise<boolean> {
    const { publisher } = this;
    if (publisher === undefined || this.publishing.blocked) return false;
    for (const raw of batch) {
      const { content, properties } = raw;
      publisher.publish(this.sharded.exchange, shardOf(this.sharded, content), content, {
        messageId: properties.messageId,
        ...(isReplayed(raw) && { headers: replayHeaders() }),
      });
    }
    if (await publisher.confirm()) return true;
    throw new Error('A shard does not exist.');
  }
}
