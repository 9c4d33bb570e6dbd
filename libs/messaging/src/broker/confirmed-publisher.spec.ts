import { jest } from '@jest/globals';
import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { type ScratchBroker, scratchBroker } from '../testing/scratch-broker.js';
import { ConfirmedPublisher } from './confirmed-publisher.js';

describe('ConfirmedPublisher', () => {
  let broker: ScratchBroker;
  let connection: ChannelModel;
  let channel: ConfirmChannel;
  let queue: string;
  beforeEach(async () => {
    broker = await scratchBroker([]);
    connection = await connect(broker.url);
    channel = await connection.createConfirmChannel();
    ({ queue } = await channel.assertQueue(`${broker.namespace}.test`, { exclusive: true }));
  });
  afterEach(async () => {
    jest.useRealTimers();
    await connection.close();
    await broker.drop();
  });

  it.each([
    ['a'.repeat(255), 'a'.repeat(255)],
    ['\uFFFD'.repeat(86), undefined], // 258 bytes
    [7, undefined],
  ])('publishes a message with the id %p with the AMQP id %p', async (messageId, expected) => {
    const publisher = new ConfirmedPublisher(channel);
    const message = { exchange: '', routingKey: queue, content: Buffer.from('{}'), messageId };
    expect(await publisher.publish([message])).toBe(true);
    const received = await channel.get(queue);
    expect(received === false ? 'nothing' : received.properties.messageId).toBe(expected);
  });

  it('publishes nothing more until a batch that was not confirmed in time is confirmed', async () => {
    const confirmed = Promise.withResolvers<void>();
    jest.spyOn(channel, 'waitForConfirms').mockReturnValueOnce(confirmed.promise);
    const publish = jest.spyOn(channel, 'publish');
    const publisher = new ConfirmedPublisher(channel);
    const message = { exchange: '', routingKey: queue, content: Buffer.from('{}') };
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }); // sockets need them
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const result = publisher.publish([message]).catch(String);
      jest.advanceTimersByTime(10_000);
      expect(await result).toContain('did not confirm the messages within 10000 ms');
    }
    jest.useRealTimers();
    expect(publish).toHaveBeenCalledTimes(1);
    confirmed.resolve();
    expect(await publisher.publish([message])).toBe(true);
    expect(publish).toHaveBeenCalledTimes(2);
  });
});
