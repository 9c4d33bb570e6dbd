import { type Message, messages, parsePublicId, publicId, topologyOf, uuidv7 } from '@fulfilment/contracts';
import type { ConfirmChannel } from 'amqplib';
import { z } from 'zod';
import { randomBytes } from 'node:crypto';
import { request } from 'undici';
import { Failure } from '../../dev/failure.ts';
import type { BenchContext } from '../bench-context.ts';
import type { Figure } from '../figures.ts';
import { placedOrder } from '../placed-order.ts';
import { eventually } from '../../dev/eventually.ts';
import { measureWork, type Sample } from '../rounds.ts';
import { ServiceProcess } from '../service-process.ts';
import { subscriptionSecret } from './receiver-secret.ts';
import type { ExpectedDelivery, ReceiverProcess } from './receiver-process.ts';
import { type Subscriber, WebhookData, type WrittenEvent } from './webhook-data.ts';

/** Number of deliveries in a sample. */
export const deliveriesPerSample = 3_000;
const subscriberCount = 50;
const settleTimeoutMs = 30_000;
const pollIntervalMs = 5;
const envelopeSchema = z.looseObject({ id: z.string() });

/** A webhook-worker with subscribers of different creators, whose deliveries go to the receiver. */
export class DeliveringWorker {
  readonly service: ServiceProcess;
  readonly data: WebhookData;
  readonly subscribers: readonly Subscriber[];
  readonly startTime: Figure;
  private readonly receiver: ReceiverProcess;
  private readonly channel: ConfirmChannel;
  private totalExpected = 0;

  /** @param channel the channel on which events are published to the worker */
  static async start(
    context: BenchContext,
    name: string,
    { receiver, channel }: { receiver: ReceiverProcess; channel: ConfirmChannel },
  ): Promise<DeliveringWorker> {
    const service = await ServiceProcess.create(context, 'webhook-worker', name, () => ({
      WEBHOOK_QUEUE_PREFIX: name,
      SECRET_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      ALLOW_LOOPBACK_TARGETS: 'true',
    }));
    const startTime = await service.start();
    const subscribers: Subscriber[] = [];
    for (let number = 0; number < subscriberCount; number += 1)
      subscribers.push(await subscribe(service, receiver.origin, `/hook/${number}`));
    const data = await WebhookData.open(service.databaseUrl);
    return new DeliveringWorker(service, data, subscribers, startTime, receiver, channel);
  }

  private constructor(
    service: ServiceProcess,
    data: WebhookData,
    subscribers: readonly Subscriber[],
    startTime: Figure,
    receiver: ReceiverProcess,
    channel: ConfirmChannel,
  ) {
    this.service = service;
    this.data = data;
    this.subscribers = subscribers;
    this.startTime = startTime;
    this.receiver = receiver;
    this.channel = channel;
  }

  /** Measures from queued messages to settled deliveries: fan-out, lease, POST and commit of the result. */
  async measureFromMessages(): Promise<Sample> {
    const events = Array.from({ length: deliveriesPerSample }, (_, index) =>
      this.eventFor(this.subscriberAt(index), index),
    );
    return this.deliver(
      events.map(({ id }, index) => this.expectedDelivery(id, index)),
      () => this.publish(events),
    );
  }

  /** Measures from due deliveries to settled ones. One further event per subscriber triggers its dispatch. */
  async measureFromBacklog(): Promise<Sample> {
    const events = copiesOfEvent(
      await this.data.sampleBody(),
      deliveriesPerSample - subscriberCount,
      (index) => this.subscriberAt(index),
    );
    const triggerEvents = this.subscribers.map((subscriber, index) => this.eventFor(subscriber, index));
    return this.deliver(
      [
        ...events.map(({ id, subscriber }) => ({ eventId: publicId('evt', id), path: subscriber.path })),
        ...triggerEvents.map(({ id }, index) => this.expectedDelivery(id, index)),
      ],
      async () => {
        await this.data.addBacklog(events);
        await this.publish(triggerEvents);
      },
    );
  }

  /** Measures from due deliveries of one subscriber to settled ones. The last event triggers the dispatch. */
  async measureFromBacklogOf(subscriber: Subscriber, count: number): Promise<Sample> {
    const events = copiesOfEvent(await this.data.sampleBody(), count - 1, () => subscriber);
    const trigger = this.eventFor(subscriber, 0);
    const ids = [...events.map(({ id }) => id), trigger.id];
    return this.deliver(
      ids.map((id) => ({ eventId: publicId('evt', id), path: subscriber.path })),
      async () => {
        await this.data.addBacklog(events);
        await this.publish([trigger]);
      },
      [subscriber],
    );
  }

  /** Adds deliveries that other code measures to the number that `checkHistory` expects. */
  addExpected(count: number): void {
    this.totalExpected += count;
  }

  subscriberAt(index: number): Subscriber {
    const subscriber = this.subscribers[index % subscriberCount];
    if (subscriber === undefined) throw new Failure('There are no subscribers.');
    return subscriber;
  }

  async waitUntilSettled(subscribers = this.subscribers): Promise<void> {
    const isSettled = () => this.data.isSettled(subscribers);
    await eventually(isSettled, settleTimeoutMs, 'the deliveries are settled', pollIntervalMs);
  }

  /** @throws Failure unless each delivery succeeded, with one stored attempt */
  async checkHistory(): Promise<void> {
    const counts = await this.data.countDeliveries();
    if (Object.values(counts).some((count) => count !== this.totalExpected))
      throw new Failure(`Expected ${this.totalExpected} deliveries, but found ${JSON.stringify(counts)}.`);
  }

  async stop(): Promise<void> {
    await this.data.close();
    await this.service.stop();
  }

  /** Writes events while the worker is paused, so that writing does not compete, and measures deliveries. */
  private async deliver(
    expected: readonly ExpectedDelivery[],
    prepare: () => Promise<void>,
    subscribers = this.subscribers,
  ): Promise<Sample> {
    const { service } = this;
    service.pause();
    try {
      await prepare();
    } finally {
      service.resume();
    }
    const sample = await measureWork(
      expected.length,
      () => service.cpuMs(),
      async () => {
        await this.receiver.waitForDeliveries(expected.length);
        await this.waitUntilSettled(subscribers);
      },
    );
    await this.receiver.takeExactly(expected);
    this.totalExpected += expected.length;
    return sample;
  }

  private eventFor({ creatorId }: Subscriber, index: number): Message {
    return messages.orderCreated.make({ order: placedOrder(index, creatorId) }, { occurredAt: new Date() });
  }

  private expectedDelivery(id: string, index: number): ExpectedDelivery {
    return { eventId: publicId('evt', id), path: this.subscriberAt(index).path };
  }

  private async publish(sent: readonly Message[]): Promise<void> {
    const queue = topologyOf(this.service.name).queue('webhook-worker.events');
    for (const message of sent)
      this.channel.publish('', queue, Buffer.from(JSON.stringify(message)), {
        persistent: true,
        mandatory: true,
      });
    await this.channel.waitForConfirms();
  }
}

/** Subscribes a new creator to order.created. */
export async function subscribe(
  service: ServiceProcess,
  receiver: string,
  path: string,
  settings: { readonly max_in_flight?: number } = {},
): Promise<Subscriber> {
  const creatorId = uuidv7();
  const token = await service.token({ creator_id: creatorId, scope: 'webhooks:create' });
  const { statusCode, body } = await request(`${service.origin}/store/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      url: `${receiver}${path}`,
      events: ['order.created'],
      secret: subscriptionSecret(path),
      ...settings,
    }),
  });
  const json: unknown = await body.json();
  if (statusCode !== 201)
    throw new Failure(`POST /store/v1/webhooks responded with ${statusCode}: ${JSON.stringify(json)}`);
  const subscriptionId = parsePublicId('whk', envelopeSchema.parse(json).id);
  if (subscriptionId === undefined) throw new Failure('The id of the subscription is invalid.');
  return { creatorId, subscriptionId, path };
}

/** Returns copies of an event that the service wrote, each with a new id. */
export function copiesOfEvent(
  body: string,
  count: number,
  subscriberAt: (index: number) => Subscriber,
): WrittenEvent[] {
  const envelope = envelopeSchema.parse(JSON.parse(body));
  return Array.from({ length: count }, (_, index) => {
    const id = uuidv7();
    const event = { ...envelope, id: publicId('evt', id) };
    return { id, body: JSON.stringify(event), subscriber: subscriberAt(index) };
  });
}
