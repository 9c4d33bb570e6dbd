import { type MessageQueue, type Topology, topologyOf } from '@fulfilment/contracts';
import type { Channel, ChannelModel, ConfirmChannel, GetMessage } from 'amqplib';
import { setTimeout as delay } from 'node:timers/promises';
import { close } from '../broker/close.js';
import { connect } from '../broker/connect.js';
import { ConfirmedPublisher, type OutgoingMessage } from '../broker/confirmed-publisher.js';
import { hasReplyCode } from '../broker/topology.js';
import { type DeadLetter, describeDeadLetter, hashOf } from './describe-dead-letter.js';
import { replayHeaders } from './dead-letter-message.js';

/** Maximum number of dead letters that a scan takes from the queue before it acknowledges them. */
const pageSize = 500;
const maxListed = 1000;
/** Long enough for another operator's scan of many dead letters. */
const lockTimeoutMs = 60_000;
const retryDelayMs = 100;
/** RabbitMQ's reply code RESOURCE_LOCKED: another connection holds the exclusive queue. */
const resourceLocked = 405;

/** Suffix of the exclusive queue that locks a scan; the permissions of the operator contain it. */
const scanLockSuffix = '.in-hand';

/** What `scan` does with a dead letter. */
type Action = 'keep' | 'remove' | 'replay';

/** Dead letters of all queues, for an operator. Close it after use. */
export class DeadLetterQueues {
  private readonly publisher: ConfirmedPublisher;

  private constructor(
    private readonly connection: ChannelModel,
    private readonly channel: ConfirmChannel,
    private readonly topology: Topology,
  ) {
    this.publisher = new ConfirmedPublisher(channel);
  }

  /** @throws Error when the broker is unreachable */
  static async open(settings: {
    readonly url: string;
    readonly namespace: string;
  }): Promise<DeadLetterQueues> {
    const connection = await connect(settings.url);
    const channel = await connection.createConfirmChannel();
    return new DeadLetterQueues(connection, channel, topologyOf(settings.namespace));
  }

  async close(): Promise<void> {
    // Rejects if RabbitMQ has closed the channel because of an error, which the failed call has reported.
    await close(this.channel).catch(() => undefined);
    await close(this.connection);
  }

  /** Returns the number of dead letters. */
  async count(queue: MessageQueue): Promise<number> {
    return (await this.channel.checkQueue(this.topology.deadLetterQueue(queue))).messageCount;
  }

  /** Returns the oldest dead letters, at most 1000, by the time of their rejection. */
  async list(queue: MessageQueue): Promise<DeadLetter[]> {
    let letters: DeadLetter[] = [];
    await this.scan(queue, (letter) => {
      letters.push(letter);
      if (letters.length === 2 * maxListed) letters = oldest(letters); // bounds the memory
      return 'keep';
    });
    return oldest(letters);
  }

  /** Returns the dead letter with this id, from any position of the queue. */
  async find(queue: MessageQueue, id: string): Promise<DeadLetter | undefined> {
    let found: DeadLetter | undefined;
    await this.scan(queue, (letter) => {
      if (letter.id === id) found = letter;
      return 'keep';
    });
    return found;
  }

  /**
   * Publishes dead letters to the queue they came from, and to no other, under their own ids, so that the
   * consumer's inbox ignores those it already applied. A message is removed from the dead letters after
   * RabbitMQ has confirmed it, so a crash may send it twice but never loses it.
   * @param id the message to replay; by default all current ones are replayed
   * @returns the ids of the replayed messages; empty if there is none
   */
  replay(queue: MessageQueue, id?: string): Promise<string[]> {
    return this.removeMatching(queue, id, 'replay');
  }

  /** Deletes a dead letter. @returns an array with its id; an empty one when it does not exist */
  discard(queue: MessageQueue, id: string): Promise<string[]> {
    return this.removeMatching(queue, id, 'remove');
  }

  private async removeMatching(
    queue: MessageQueue,
    id: string | undefined,
    action: Action,
  ): Promise<string[]> {
    const removed: string[] = [];
    await this.scan(queue, (letter) => {
      if (id !== undefined && letter.id !== id) return 'keep';
      removed.push(letter.id);
      return action;
    });
    return removed;
  }

  /**
   * Goes once through all current dead letters. Those to keep are republished to the end of the queue before
   * they are acknowledged at its head, so that their order stays the same. They are not requeued, because
   * RabbitMQ 4 counts that as a delivery and drops the message at its limit. A crash between these steps
   * leaves duplicates with the same id and content; the next scan merges them.
   */
  private async scan(queue: MessageQueue, decide: (letter: DeadLetter) => Action): Promise<void> {
    const name = this.topology.deadLetterQueue(queue);
    await this.withExclusiveLock(name + scanLockSuffix, async () => {
      const seen = new Set<string>();
      let remaining = await this.count(queue);
      while (remaining > 0) {
        const unacknowledged = await this.getMessages(name, Math.min(remaining, pageSize));
        if (unacknowledged.length === 0) break;
        remaining -= unacknowledged.length;
        const outgoing: OutgoingMessage[] = [];
        for (const raw of unacknowledged) {
          const letter = describeDeadLetter(queue, raw);
          const idAndContent = `${letter.id} ${hashOf(raw.content)}`;
          const action = seen.has(idAndContent) ? 'remove' : decide(letter);
          if (action === 'keep') outgoing.push(copyFor(name, raw, raw.properties.headers ?? {}));
          if (action === 'replay') outgoing.push(copyFor(this.topology.queue(queue), raw, replayHeaders()));
          seen.add(idAndContent);
        }
        if (!(await this.publisher.publish(outgoing)))
          throw new Error(
            `RabbitMQ returned a message: ${name} or ${this.topology.queue(queue)} does not exist.`,
          );
        for (const raw of unacknowledged) this.channel.ack(raw);
      }
      await this.count(queue); // its response shows that RabbitMQ received the acknowledgements
    });
  }

  private async getMessages(name: string, limit: number): Promise<GetMessage[]> {
    const unacknowledged: GetMessage[] = [];
    while (unacknowledged.length < limit) {
      const raw = await this.channel.get(name);
      if (raw === false) break;
      unacknowledged.push(raw);
    }
    return unacknowledged;
  }

  /**
   * Holds an exclusive queue during the work, which the broker grants to one connection at a time. Otherwise
   * each of two concurrent scans would read messages that the other has republished.
   */
  private async withExclusiveLock(lock: string, work: () => Promise<void>): Promise<void> {
    const channel = await this.acquireLock(lock);
    try {
      await work();
    } finally {
      await channel.deleteQueue(lock).catch(() => undefined); // closing the connection deletes it as well
      await close(channel).catch(() => undefined);
    }
  }

  private async acquireLock(lock: string): Promise<Channel> {
    for (let waitedMs = 0; ; waitedMs += retryDelayMs) {
      const channel = await this.connection.createChannel();
      channel.on('error', () => undefined); // the call below rejects
      try {
        await channel.assertQueue(lock, { exclusive: true, durable: false });
        return channel;
      } catch (error) {
        if (!hasReplyCode(error, resourceLocked) || waitedMs >= lockTimeoutMs) throw error;
      }
      await delay(retryDelayMs);
    }
  }
}

function copyFor(queue: string, { content, properties }: GetMessage, headers: object): OutgoingMessage {
  return { exchange: '', routingKey: queue, content, messageId: properties.messageId, headers };
}

/** Returns the first 1000 by time of rejection. RabbitMQ's own dead letters have no time and come first. */
function oldest(letters: readonly DeadLetter[]): DeadLetter[] {
  // words: `refused_at` is a public member of the command's output
  const rejectedAtMs = ({ refused_at }: DeadLetter) => Date.parse(refused_at ?? '') || 0;
  return letters.toSorted((a, b) => rejectedAtMs(a) - rejectedAtMs(b)).slice(0, maxListed);
}
