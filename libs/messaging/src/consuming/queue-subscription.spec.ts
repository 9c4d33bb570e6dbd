import { storeUrl } from '@fulfilment/testing';
import { type ChannelModel, connect, type ConsumeMessage } from 'amqplib';
import { QueueSubscription } from './queue-subscription.js';

describe('a subscription that stops', () => {
  let connection: ChannelModel;
  beforeEach(async () => {
    connection = await connect(storeUrl('TEST_RABBITMQ_URL'));
  });
  afterEach(() => connection.close());

  it.each([
    ['a subscription with a prefetch of 1', { isOrdered: false, prefetch: 10, timeSliceMs: undefined }],
    ['a time slice', { isOrdered: true, prefetch: 1, timeSliceMs: 0 }],
  ])('is not renewed by an acknowledgement that ends %s', async (_, options) => {
    const channel = await connection.createConfirmChannel();
    const { queue } = await channel.assertQueue('', { exclusive: true });
    const received = Promise.withResolvers<ConsumeMessage | null>();
    const subscription = new QueueSubscription(channel, { ...options, receive: received.resolve });
    await subscription.start(queue);
    channel.sendToQueue(queue, Buffer.from('{}'));
    const raw = await received.promise;
    if (raw === null) throw new Error('RabbitMQ cancelled the subscription.');
    await Promise.all([subscription.stop(), subscription.acknowledge(raw, { allUpTo: true })]);
    expect(await channel.checkQueue(queue)).toMatchObject({ consumerCount: 0, messageCount: 0 });
  });
});
