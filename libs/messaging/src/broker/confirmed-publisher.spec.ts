import { connect } from 'amqplib';
import { scratchBroker } from '../testing/scratch-broker.js';
import { ConfirmedPublisher } from './confirmed-publisher.js';

describe('ConfirmedPublisher', () => {
  it.each([
    ['a'.repeat(255), 'a'.repeat(255)],
    ['\uFFFD'.repeat(86), undefined], // 258 bytes
    [7, undefined],
  ])('publishes a message with the id %p with the AMQP id %p', async (messageId, expected) => {
    const broker = await scratchBroker();
    const connection = await connect(broker.url);
    try {
      const channel = await connection.createConfirmChannel();
      const { queue } = await channel.assertQueue(`${broker.namespace}.test`, { exclusive: true });
      const publisher = new ConfirmedPublisher(channel);
      publisher.publish({ exchange: '', routingKey: queue, content: Buffer.from('{}'), messageId });
      expect(await publisher.confirm()).toBe(true);
      const received = await channel.get(queue);
      expect(received === false ? 'nothing' : received.properties.messageId).toBe(expected);
    } finally {
      await connection.close();
      await broker.drop();
    }
  });
});
