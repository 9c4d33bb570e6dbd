import { jest } from '@jest/globals';
import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { setImmediate as nextTurn } from 'node:timers/promises';
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

  it('publishes nothing more until each message of a batch that was not confirmed in time has a response', async () => {
    const confirmations: (() => void)[] = [];
    const publish = jest.spyOn(channel, 'publish');
    publish.mockImplementation((...[, , , , confirm]) => {
      confirmations.push(() => confirm?.(null, {}));
      return true;
    });
    const publisher = new ConfirmedPublisher(channel);
    const message = { exchange: '', routingKey: queue, content: Buffer.from('{}') };
    jest.useFakeTimers();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const result = publisher.publish([message, message]).catch(String);
      await jest.advanceTimersByTimeAsync(10_000);
      expect(await result).toContain('did not confirm the messages within 10000 ms');
    }
    jest.useRealTimers();
    expect(confirmations).toHaveLength(2);
    publish.mockRestore();
    const next = publisher.publish([message]);
    confirmations[0]?.();
    await nextTurn();
    expect(await channel.checkQueue(queue)).toMatchObject({ messageCount: 0 });
    confirmations[1]?.();
    expect(await next).toBe(true);
    expect(await channel.checkQueue(queue)).toMatchObject({ messageCount: 1 });
  });

  it('rejects a batch of which a message is rejected', async () => {
    jest.spyOn(channel, 'publish').mockImplementationOnce((...[, , , , confirm]) => {
      confirm?.(new Error('message nacked'), {});
      return true;
    });
    const message = { exchange: '', routingKey: queue, content: Buffer.from('{}') };
    await expect(new ConfirmedPublisher(channel).publish([message, message])).rejects.toThrow('nacked');
  });
});
