import { type Message, messages, parsePublicId, publicId, topologyOf, uuidv7 } from '@fulfilment/contracts';
import type { ConfirmChannel } from 'amqplib';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { Failure } from '../../dev/failure.ts';
import type { BenchSite } from '../bench-site.ts';
import { placedOrder } from '../placed-order.ts';
import { type Part, partOf } from '../rounds.ts';
import type { Expected, ReceiverProcess } from './receiver-process.ts';
import { type Subscriber, WebhookData, type WrittenEvent } from './webhook-data.ts';
import { WebhookProcess } from './webhook-process.ts';

/** Deliveries a part of a round. */
export const perPart = 3_000;
const subscriberCount = 50;
const settledWithinMs = 30_000;
const lookEveryMs = 5;
const anEnvelope = z.looseObject({ id: z.string() });

/** A webhook-worker with subscribers, of a creator each, whose deliveries go to the receiver. */
export class DeliveringWorker {
  readonly worker: WebhookProcess;
  readonly data: WebhookData;
  readonly subscribers: readonly Subscriber[];
  readonly readyS: number;
  private readonly receiver: ReceiverProcess;
  private readonly channel: ConfirmChannel;
  private expectedSoFar = 0;

  /** @param channel by which it is told of events */
  static async start(
    site: BenchSite,
    name: string,
    { receiver, channel }: { receiver: ReceiverProcess; channel: ConfirmChannel },
  ): Promise<DeliveringWorker> {
    const worker = await WebhookProcess.start(site, name);
    const readyS = await worker.ready();
    const subscribers: Subscriber[] = [];
    for (let number = 0; number < subscriberCount; number += 1)
      subscribers.push(await subscribe(worker, `${receiver.origin}`, `/hook/${number}`));
    const data = await WebhookData.open(worker.databaseUrl);
    return new DeliveringWorker(worker, data, subscribers, readyS, receiver, channel);
  }

  private constructor(
    worker: WebhookProcess,
    data: WebhookData,
    subscribers: readonly Subscriber[],
    readyS: number,
    receiver: ReceiverProcess,
    channel: ConfirmChannel,
  ) {
    this.worker = worker;
    this.data = data;
    this.subscribers = subscribers;
    this.readyS = readyS;
    this.receiver = receiver;
    this.channel = channel;
  }

  /** From the messages in its queue to deliveries that are settled: fan-out, lease, POST and the commit of what came of it. */
  async fromMessages(): Promise<Part> {
    const told = Array.from({ length: perPart }, (_, index) =>
      this.eventFor(this.subscriberOf(index), index),
    );
    return this.deliver(
      told.map(({ id }, index) => this.expectedOf(id, index)),
      () => this.publish(told),
    );
  }

  /** From deliveries that are due to settled ones. A message for each subscriber, which has one more, tells it that there is something to do. */
  async fromBacklog(): Promise<Part> {
    const events = writtenEvents(await this.data.oneBody(), perPart - subscriberCount, (index) =>
      this.subscriberOf(index),
    );
    const wakers = this.subscribers.map((subscriber, index) => this.eventFor(subscriber, index));
    return this.deliver(
      [
        ...events.map(({ id, subscriber }) => ({ event: publicId('evt', id), path: subscriber.path })),
        ...wakers.map(({ id }, index) => this.expectedOf(id, index)),
      ],
      async () => {
        await this.data.addBacklog(events);
        await this.publish(wakers);
      },
    );
  }

  /** So many deliveries were to come besides those of its parts. */
  alsoExpect(count: number): void {
    this.expectedSoFar += count;
  }

  subscriberOf(index: number): Subscriber {
    const subscriber = this.subscribers[index % subscriberCount];
    if (subscriber === undefined) throw new Failure('There are no subscribers.');
    return subscriber;
  }

  async untilSettled(): Promise<void> {
    const until = performance.now() + settledWithinMs;
    while (!(await this.data.isSettled(this.subscribers))) {
      if (performance.now() > until) throw new Failure('The deliveries were not settled in time.');
      await sleep(lookEveryMs);
    }
  }

  /** @throws Failure unless each delivery succeeded with one attempt that is in the history */
  async checkHistory(): Promise<void> {
    const delivered = await this.data.delivered();
    if (Object.values(delivered).some((count) => count !== this.expectedSoFar))
      throw new Failure(`Of ${this.expectedSoFar} deliveries there are ${JSON.stringify(delivered)}.`);
  }

  async stop(): Promise<void> {
    await this.data.close();
    await this.worker.stop();
  }

  /** The process is held while its work is laid out, so that writing and taking do not share the machine. */
  private async deliver(expected: readonly Expected[], layOut: () => Promise<void>): Promise<Part> {
    const { process } = this.worker;
    process.hold();
    try {
      await layOut();
    } finally {
      process.release();
    }
    const cpuBefore = process.cpuMs();
    const startedAt = performance.now();
    await this.receiver.when(expected.length);
    await this.untilSettled();
    const part = partOf(expected.length, performance.now() - startedAt, [cpuBefore, process.cpuMs()]);
    await this.receiver.takeExactly(expected);
    this.expectedSoFar += expected.length;
    return part;
  }

  private eventFor({ creatorId }: Subscriber, index: number): Message {
    return messages.orderCreated.make({ order: placedOrder(index, creatorId) }, { occurredAt: new Date() });
  }

  private expectedOf(id: string, index: number): Expected {
    return { event: publicId('evt', id), path: this.subscriberOf(index).path };
  }

  private async publish(told: readonly Message[]): Promise<void> {
    const queue = topologyOf(this.worker.name).queue('webhook-worker.events');
    for (const message of told)
      this.channel.publish('', queue, Buffer.from(JSON.stringify(message)), {
        persistent: true,
        mandatory: true,
      });
    await this.channel.waitForConfirms();
  }
}

/** A creator of its own, and what it wants to hear. */
export async function subscribe(worker: WebhookProcess, origin: string, path: string): Promise<Subscriber> {
  const creatorId = uuidv7();
  const id = await worker.subscribe(creatorId, origin, path);
  return { creatorId, subscriptionId: parsePublicId('whk', id) ?? '', path };
}

/** Events as the service wrote them: bodies like one it rendered, each with an id of its own. */
export function writtenEvents(
  body: string,
  count: number,
  subscriberOf: (index: number) => Subscriber,
): WrittenEvent[] {
  const envelope = anEnvelope.parse(JSON.parse(body));
  return Array.from({ length: count }, (_, index) => {
    const id = uuidv7();
    const told = { ...envelope, id: publicId('evt', id) };
    return { id, body: JSON.stringify(told), subscriber: subscriberOf(index) };
  });
}
