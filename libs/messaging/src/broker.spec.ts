import { topologyOf } from '@fulfilment/contracts';
import { createLogger } from '@fulfilment/runtime';
import { connect } from 'amqplib';
import { randomUUID } from 'node:crypto';
import { Broker } from './broker.js';

const url = process.env.TEST_RABBITMQ_URL ?? '';
const namespace = `broker_spec_${randomUUID()}`;
const logger = createLogger('test', 'info', { write: () => undefined });

describe('a connection to RabbitMQ', () => {
  let broker: Broker;
  beforeEach(() => {
    broker = new Broker({ url, name: 'test', namespace }, logger);
  });
  afterEach(() => broker.stop());
  afterAll(async () => {
    const connection = await connect(url);
    const channel = await connection.createChannel();
    await channel.deleteExchange(topologyOf(namespace).factsExchange);
    await connection.close();
  });

  it('is replaced when a channel user requests a reconnect while its channel is being set up', async () => {
    let opened = 0;
    await new Promise<void>((resolve) => {
      broker.use(() => {
        opened += 1;
        if (opened === 1) broker.reconnect();
        else resolve();
        return Promise.resolve();
      });
      broker.start();
    });
    expect(opened).toBe(2);
  });

  it('counts as connected only once all of its channels are set up', async () => {
    const during = new Promise<boolean>((resolve) => {
      broker.use(() => Promise.resolve(resolve(broker.connected)));
    });
    broker.start();
    expect(await during).toBe(false);
  });
});
