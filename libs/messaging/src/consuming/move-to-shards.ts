import { type MessageQueue, type ShardedTopology, shardOf } from '@fulfilment/contracts';
import { Counter } from '@fulfilment/runtime';
import type { ConfirmChannel, ConsumeMessage } from 'amqplib';
import type { OutgoingMessage } from '../broker/confirmed-publisher.js';
import type { HandlerCallbacks, MessageHandler } from './message-handler.js';
import { isReplayed, deadLetterOf, replayHeaders } from '../dead-letters/dead-letter-message.js';
import type { RetryingPublisher } from './retrying-publisher.js';

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
  constructor(
    private readonly queue: MessageQueue,
    private readonly sharded: ShardedTopology,
    private readonly publisher: RetryingPublisher,
    private readonly callbacks: HandlerCallbacks,
  ) {}

  async handle(channel: ConfirmChannel, batch: readonly ConsumeMessage[]): Promise<void> {
    const messages = batch.map((raw) => this.toShard(raw));
    const areMoved = await this.publisher.publish(messages, () => this.callbacks.acceptsWork(channel));
    const last = batch.at(-1);
    if (last === undefined || !areMoved || !this.callbacks.acceptsWork(channel)) return;
    moved.inc({ queue: this.queue }, batch.length);
    await this.callbacks.acknowledge(channel, last, { allUpTo: true });
  }

  async deadLetter(channel: ConfirmChannel, raw: ConsumeMessage, reason: string): Promise<void> {
    const acceptsWork = () => this.callbacks.acceptsWork(channel);
    const deadLetter = deadLetterOf(this.publisher.topology, this.queue, raw, reason);
    if (await this.publisher.publish([deadLetter], acceptsWork))
      await this.callbacks.acknowledge(channel, raw);
  }

  private toShard(raw: ConsumeMessage): OutgoingMessage {
    const { content, properties } = raw;
    return {
      exchange: this.sharded.exchange,
      routingKey: shardOf(this.sharded, content),
      content,
      messageId: properties.messageId,
      ...(isReplayed(raw) && { headers: replayHeaders() }),
    };
  }
}
