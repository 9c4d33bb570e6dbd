import { messageQueues, type MessageQueue, type Topology, topologyOf } from '@fulfilment/contracts';
import { type Channel, type ChannelModel, type ConfirmChannel, connect, type GetMessage } from 'amqplib';
import { setTimeout as delay } from 'node:timers/promises';
import { confirmed } from './confirmed.js';
import { type DeadLetter, deadLetter } from './dead-letter.js';

/** In hand at one time. */
const pageSize = 500;
const mostListed = 1000;
const waitForOthersMs = 60_000;
const askAgainMs = 100;

/** What is done with a letter that was looked at. */
type Verdict = 'keep' | 'remove';

/** The messages that were refused, for an operator. Close it after use. */
export class DeadLetterQueues {
  private returned = false;
  private readonly channel: ConfirmChannel;
  private readonly topology: Topology;
  private readonly connection: ChannelModel;

  private constructor(connection: ChannelModel, channel: ConfirmChannel, topology: Topology) {
    this.connection = connection;
    this.channel = channel;
    this.topology = topology;
    channel.on('return', () => {
      this.returned = true;
    });
    channel.on('error', () => undefined); // the call under way says so
  }

  /** @throws Error when the broker cannot be reached */
  static async open(settings: {
    readonly url: string;
    readonly namespace: string;
  }): Promise<DeadLetterQueues> {
    const connection = await connect(settings.url, { timeout: 5_000 });
    connection.on('error', () => undefined);
    const channel = await connection.createConfirmChannel();
    return new DeadLetterQueues(connection, channel, topologyOf(settings.namespace));
  }

  async close(): Promise<void> {
    await this.channel.close(); // its acknowledgements come before its end; those of a connection need not
    await this.connection.close();
  }

  /** How many wait. */
  async count(queue: MessageQueue): Promise<number> {
    return (await this.channel.checkQueue(this.topology.deadLetterQueue(queue))).messageCount;
  }

  /** The oldest, at most 1000. */
  async list(queue: MessageQueue): Promise<DeadLetter[]> {
    let letters: DeadLetter[] = [];
    await this.look(queue, (letter) => {
      letters.push(letter);
      if (letters.length === 2 * mostListed) letters = oldest(letters);
      return 'keep';
    });
    return oldest(letters);
  }

  /** The one of this id, wherever it stands. */
  async find(queue: MessageQueue, id: string): Promise<DeadLetter | undefined> {
    let found: DeadLetter | undefined;
    await this.look(queue, (letter) => {
      if (letter.id === id) found = letter;
      return 'keep';
    });
    return found;
  }

  /**
   * Sends refused messages to the queue that refused them, and to no other, under their own ids: the inbox of its consumer knows what
   * it applied already. Each leaves the dead letters when RabbitMQ has it in its queue: a death in between sends it twice, never not at all.
   * @param id of one, else all that wait now
   * @returns the ids
   */
  replay(queue: MessageQueue, id?: string): Promise<string[]> {
    return this.takeOut(queue, id, (raw) => this.send(this.topology.queue(queue), raw, {}));
  }

  /** Throws a refused message away. @returns its id, or nothing when it is not there */
  discard(queue: MessageQueue, id: string): Promise<string[]> {
    return this.takeOut(queue, id, () => undefined);
  }

  private async takeOut(
    queue: MessageQueue,
    id: string | undefined,
    act: (raw: GetMessage) => void,
  ): Promise<string[]> {
    const taken: string[] = [];
    await this.look(queue, (letter, raw) => {
      if (id !== undefined && letter.id !== id) return 'keep';
      act(raw);
      taken.push(letter.id);
      return 'remove';
    });
    return taken;
  }

  /**
   * Goes once through all letters that wait now. Those that are kept go to the queue's end before they are taken off its head, so that after the
   * last of them all stand as they stood: given back, they would be counted by the broker, and dropped after some times (RabbitMQ 4). One letter
   * that stands there twice, after a death in between, is one again.
   */
  private async look(
    queue: MessageQueue,
    judge: (letter: DeadLetter, raw: GetMessage) => Verdict,
  ): Promise<void> {
    const name = this.topology.deadLetterQueue(queue);
    await this.alone(`${name}.in-hand`, async () => {
      const seen = new Set<string>();
      for (let left = await this.count(queue); left > 0;) {
        const inHand = await this.take(name, Math.min(left, pageSize));
        left = inHand.length === 0 ? 0 : left - inHand.length;
        this.returned = false;
        for (const raw of inHand) {
          const letter = deadLetter(queue, raw);
          if (!seen.has(letter.id) && judge(letter, raw) === 'keep')
            this.send(name, raw, raw.properties.headers ?? {});
          seen.add(letter.id);
        }
        await confirmed(this.channel); // a return comes before its confirmation
        if (this.returned) throw new Error(`The broker has no queue ${this.topology.queue(queue)}.`);
        for (const raw of inHand) this.channel.ack(raw);
      }
    });
  }

  private async take(name: string, most: number): Promise<GetMessage[]> {
    const inHand: GetMessage[] = [];
    while (inHand.length < most) {
      const raw = await this.channel.get(name);
      if (raw === false) break;
      inHand.push(raw);
    }
    return inHand;
  }

  /**
   * Holds an exclusive queue meanwhile, which the broker gives to one connection at a time: two that go through the letters at once would
   * take each other's for their own.
   */
  private async alone(lock: string, work: () => Promise<void>): Promise<void> {
    const channel = await this.exclusively(lock);
    try {
      await work();
    } finally {
      await channel.deleteQueue(lock).catch(() => undefined); // the end of the connection deletes it, too
      await channel.close().catch(() => undefined);
    }
  }

  private async exclusively(lock: string): Promise<Channel> {
    for (let waitedMs = 0; ; waitedMs += askAgainMs) {
      const channel = await this.connection.createChannel();
      channel.on('error', () => undefined); // RESOURCE_LOCKED closes it
      try {
        await channel.assertQueue(lock, { exclusive: true, durable: false });
        return channel;
      } catch (error) {
        if (waitedMs >= waitForOthersMs) throw error;
      }
      await delay(askAgainMs);
    }
  }

  private send(to: string, raw: GetMessage, headers: object): void {
    const messageId: unknown = raw.properties.messageId;
    this.channel.publish('', to, raw.content, {
      persistent: true,
      mandatory: true,
      contentType: 'application/json',
      headers,
      ...(typeof messageId === 'string' && { messageId }),
    });
  }
}

/** By when they were refused; what the broker itself set aside does not say so, and comes first. */
function oldest(letters: readonly DeadLetter[]): DeadLetter[] {
  const at = ({ refused_at }: DeadLetter) => Date.parse(refused_at ?? '') || 0;
  return letters.toSorted((one, other) => at(one) - at(other)).slice(0, mostListed);
}

/** A queue of the catalogue by its name. */
export function isMessageQueue(name: string): name is MessageQueue {
  return Object.hasOwn(messageQueues, name);
}
