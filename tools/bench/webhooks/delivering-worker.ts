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
import { measurePrepared, type Sample } from '../rounds.ts';
import { ServiceProcess } from '../service-process.ts';
import { subscriptionSecret } from './receiver-secret.ts';
import type { ReceiverProcess } from './receiver-process.ts';
import { type SentEvent, type Subscriber, WebhookData, type WrittenEvent } from './webhook-data.ts';

/** Number of deliveries in a sample. */
export const deliveriesPerSample = 3_000;
const subscriberCount = 50;
const settleTimeoutMs = 30_000;
const pollIntervalMs = 5;
const envelopeSchema = z.looseObject({ id: z.string() });

/** The receiver of all deliveries, and the channel on which events are published to the worker. */
interface Connections {
  readonly receiver: ReceiverProcess;
  readonly channel: ConfirmChannel;
}

/** A webhook-worker with subscribers of different creators, whose deliveries go to the receiver. */
export class DeliveringWorker {
  readonly service: ServiceProcess;
  readonly data: WebhookData;
  readonly subscribers: readonly Subscriber[];
  readonly startTime: Figure;
  private readonly connections: Connections;
  private totalExpected = 0;

  static async start(
    context: BenchContext,
    name: string,
    connections: Connections,
  ): Promise<DeliveringWorker> {
    const service = await ServiceProcess.create(context, 'webhook-worker', name, () => ({
      WEBHOOK_QUEUE_PREFIX: name,
      SECRET_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      ALLOW_LOOPBACK_TARGETS: 'true',
    }));
    const startTime = await service.start();
    const subscribers: Subscriber[] = [];
    for (let number = 0; number < subscriberCount; number += 1)
      subscribers.push(await subscribe(service, connections.receiver.origin, `/hook/${number}`));
    const data = await WebhookData.open(service.databaseUrl);
    return new DeliveringWorker(service, data, subscribers, startTime, connections);
  }

  private constructor(
    service: ServiceProcess,
    data: WebhookData,
    subscribers: readonly Subscriber[],
    startTime: Figure,
    connections: Connections,
  ) {
    this.service = service;
    this.data = data;
    this.subscribers = subscribers;
    this.startTime = startTime;
    this.connections = connections;
  }

  /** Measures from queued messages to settled deliveries: fan-out, lease, POST and commit of the result. */
  async measureFromMessages(): Promise<Sample> {
    const sent = Array.from({ length: deliveriesPerSample }, (_, index) =>
      sentMessage(memberAt(this.subscribers, index), index),
    );
    return this.deliver(sent, this.subscribers, () => this.publish(sent));
  }

  /** Measures from due deliveries to settled ones. The last event of a subscriber triggers its dispatch. */
  async measureFromBacklog(subscribers = this.subscribers, count = deliveriesPerSample): Promise<Sample> {
    const backlog = copiesOfEvent(await this.data.sampleBody(), count - subscribers.length, subscribers);
    const triggers = subscribers.map(sentMessage);
    return this.deliver([...backlog, ...triggers], subscribers, async () => {
      await this.data.addBacklog(backlog);
      await this.publish(triggers);
    });
  }

  /** Adds deliveries that other code measures to the number that `checkHistory` expects. */
  addExpected(count: number): void {
    this.totalExpected += count;
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

  private async deliver(
    sent: readonly SentEvent[],
    subscribers: readonly Subscriber[],
    prepare: () => Promise<void>,
  ): Promise<Sample> {
    const { receiver } = this.connections;
    const sample = await measurePrepared(sent.length, this.service, {
      prepare,
      work: async () => {
        await receiver.waitForDeliveries(sent.length);
        await this.waitUntilSettled(subscribers);
      },
    });
    await receiver.takeExactly(sent);
    this.totalExpected += sent.length;
    return sample;
  }

  private async publish(sent: readonly SentMessage[]): Promise<void> {
    const { channel } = this.connections;
    const queue = topologyOf(this.service.name).queue('webhook-worker.events');
    for (const { message } of sent)
      channel.publish('', queue, Buffer.from(JSON.stringify(message)), { persistent: true });
    await channel.waitForConfirms();
  }
}

/** A message that leads to one event, with the same id, for one subscriber. */
interface SentMessage extends SentEvent {
  readonly message: Message;
}

function sentMessage(subscriber: Subscriber, index: number): SentMessage {
  const order = placedOrder(index, subscriber.creatorId);
  const message = messages.orderCreated.make({ order }, { occurredAt: new Date() });
  return { id: message.id, subscriber, message };
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

/** Returns copies of an event that the service wrote, each with a new id, for the subscribers in rotation. */
export function copiesOfEvent(
  body: string,
  count: number,
  subscribers: readonly Subscriber[],
): WrittenEvent[] {
  const envelope = envelopeSchema.parse(JSON.parse(body));
  return Array.from({ length: count }, (_, index) => {
    const id = uuidv7();
    const event = { ...envelope, id: publicId('evt', id) };
    return { id, body: JSON.stringify(event), subscriber: memberAt(subscribers, index) };
  });
}

function memberAt(subscribers: readonly Subscriber[], index: number): Subscriber {
  const subscriber = subscribers[index % subscribers.length];
  if (subscriber === undefined) throw new Failure('There are no subscribers.');
  return subscriber;
}
