import { messageQueues, type MessageQueue, type Topology, topologyOf } from '@fulfilment/contracts';
import { type ConfirmChannel, connect, type GetMessage } from 'amqplib';
import { confirmed } from './confirmed.js';
import { type DeadLetter, deadLetter } from './dead-letter.js';

/** Looked at in one go; what lies behind them has its turn when they are gone. */
const mostLookedAt = 1000;

/** What is done with a letter that was looked at. */
type Verdict = 'keep' | 'remove';

/** The messages that were refused, for an operator. Close it after use. */
export class DeadLetterQueues {
  private returned = false;
  private readonly channel: ConfirmChannel;
  private readonly topology: Topology;
  readonly close: () => Promise<void>;

  constructor(channel: ConfirmChannel, topology: Topology, close: () => Promise<void>) {
    this.channel = channel;
    this.topology = topology;
    this.close = close;
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
    return new DeadLetterQueues(channel, topologyOf(settings.namespace), async () => {
      await channel.close(); // its acknowledgements come before its end; those of a connection need not
      await connection.close();
    });
  }

  /** How many wait. */
  async count(queue: MessageQueue): Promise<number> {
    return (await this.channel.checkQueue(this.topology.deadLetterQueue(queue))).messageCount;
  }

  /** The oldest, at most 1000. */
  async list(queue: MessageQueue): Promise<DeadLetter[]> {
    const letters: DeadLetter[] = [];
    await this.look(queue, (letter) => {
      letters.push(letter);
      return 'keep';
    });
    return letters;
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
   * Takes the letters in hand. Those that are kept go to the queue's end before they are taken off its head: a broker counts how often a
   * message is given back, and drops it after some. One letter that stands there twice, after a death in between, is one again.
   */
  private async look(
    queue: MessageQueue,
    judge: (letter: DeadLetter, raw: GetMessage) => Verdict,
  ): Promise<void> {
    const name = this.topology.deadLetterQueue(queue);
    const inHand: GetMessage[] = [];
    for (let left = Math.min(await this.count(queue), mostLookedAt); left > 0; left -= 1) {
      const raw = await this.channel.get(name);
      if (raw === false) break;
      inHand.push(raw);
    }
    const seen = new Set<string>();
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

/** A queue of the catalogue by its name. */
export function isMessageQueue(name: string): name is MessageQueue {
  return Object.hasOwn(messageQueues, name);
}
