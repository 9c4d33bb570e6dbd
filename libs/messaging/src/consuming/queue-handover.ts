import type { ChannelModel, Replies } from 'amqplib';
import { onOwnChannel } from '../broker/topology.js';

/** Reads one queue at a time, as the handover decides. */
export interface Subscriber {
  /** Whether every received message has been handled. */
  isIdle(): boolean;
  subscribe(queue: string): Promise<void>;
  unsubscribe(): Promise<void>;
}

/** What a `QueueReader` reads: the earlier versions of its queue, then the current one. */
export interface QueueSource {
  readonly current: string;
  /** The earlier versions, oldest first. */
  readonly retired: readonly string[];
  /** Binding patterns of the retired queues. */
  readonly patterns: readonly string[];
}

/**
 * Decides which version of its queue a `QueueReader` reads (ADR 23). A retired queue belongs to the replicas
 * of the earlier version while one of them consumes it. After that, this replica unbinds it, reads the
 * remaining messages, deletes it, and continues with the next. The current queue was bound earlier, so it has
 * all newer messages, and the inbox ignores duplicates. Messages are never applied out of order: the current
 * queue is read only when all retired queues are gone.
 */
export class QueueHandover {
  /** The queue that is subscribed to, if any. */
  private reading: string | undefined;

  constructor(
    private readonly connection: ChannelModel,
    private readonly factsExchange: string,
    private readonly source: QueueSource,
    private readonly subscriber: Subscriber,
  ) {}

  /** Whether the current queue is being read. */
  get isOver(): boolean {
    return this.reading === this.source.current;
  }

  /** Makes one step. Call it until `isOver`. */
  async step(): Promise<void> {
    for (const retired of this.source.retired) {
      const state = await this.inspect(retired);
      if (state !== undefined && !(await this.stepRetired(retired, state))) return;
    }
    await this.read(this.source.current);
  }

  /** Whether a replica of the earlier version re-created a retired queue after the handover, and stopped. */
  async hasAbandonedRetiredQueue(): Promise<boolean> {
    for (const retired of this.source.retired) {
      if ((await this.inspect(retired))?.consumerCount === 0) return true;
    }
    return false;
  }

  /** Starts to read a retired queue, or deletes it once it is empty. Returns whether it is gone. */
  private async stepRetired(retired: string, state: Replies.AssertQueue): Promise<boolean> {
    if (this.reading !== retired) {
      if (state.consumerCount > 0) return false;
      await this.unbind(retired);
      await this.read(retired);
      return false;
    }
    if (state.messageCount > 0 || !this.subscriber.isIdle()) return false;
    await this.subscriber.unsubscribe();
    this.reading = undefined;
    // A message may have arrived before the subscription ended. The next step then reads the queue again.
    const remaining = await this.inspect(retired);
    if (remaining === undefined) return true;
    const isUnused =
      remaining.messageCount === 0 && remaining.consumerCount === 0 && this.subscriber.isIdle();
    if (isUnused) await onOwnChannel(this.connection, (channel) => channel.deleteQueue(retired));
    return isUnused;
  }

  private async read(queue: string): Promise<void> {
    if (this.reading === queue) return;
    await this.subscriber.subscribe(queue);
    this.reading = queue;
  }

  private async unbind(queue: string): Promise<void> {
    await onOwnChannel(this.connection, async (channel) => {
      for (const pattern of this.source.patterns)
        await channel.unbindQueue(queue, this.factsExchange, pattern);
    });
  }

  private inspect(queue: string): Promise<Replies.AssertQueue | undefined> {
    return onOwnChannel(this.connection, (channel) => channel.checkQueue(queue));
  }
}
