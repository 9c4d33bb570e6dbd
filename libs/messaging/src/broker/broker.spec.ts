import { topologyOf } from '@fulfilment/contracts';
import { createLogger } from '@fulfilment/runtime';
import { connect } from 'amqplib';
import { eventually, type FlakyProxy, flakyProxy, storeUrl } from '@fulfilment/testing';
import { randomUUID } from 'node:crypto';
import { Broker } from './broker.js';
import { close } from './close.js';

const url = storeUrl('TEST_RABBITMQ_URL');
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
      });
      broker.start();
    });
    expect(opened).toBe(2);
  });

  it('waits also for a precondition that is set while it waits for another', async () => {
    const passed: string[] = [];
    const opened = new Promise<void>((resolve) => {
      broker.use(() => resolve());
    });
    broker.reconnect(() => {
      passed.push('first');
      broker.reconnect(() => Promise.resolve(passed.push('second')));
      return Promise.resolve();
    });
    broker.start();
    await opened;
    expect(passed).toEqual(['first', 'second']);
  });

  it('does not count as connected while a channel is being set up', async () => {
    const connectedDuringSetup = new Promise<boolean>((resolve) => {
      broker.use(() => {
        resolve(broker.connected);
      });
    });
    broker.start();
    expect(await connectedDuringSetup).toBe(false);
  });

  it('opens no channels when it is stopped while it connects', async () => {
    let opened = 0;
    broker.use(() => {
      opened += 1;
    });
    broker.start();
    await broker.stop();
    expect(opened).toBe(0);
  });

  it('is opened to another node of the cluster while one is down, and replaced when that node goes down', async () => {
    const [one, other] = [await flakyProxy(url), await flakyProxy(url)];
    broker = new Broker({ url: `${one.url},${other.url}`, name: 'test', namespace }, logger);
    let opened = 0;
    broker.use(() => {
      opened += 1;
    });
    one.disconnect();
    broker.start();
    await eventually(() => opened === 1 && broker.connected);
    one.restore();
    other.disconnect();
    await eventually(() => opened === 2 && broker.connected);
    await broker.stop();
    await Promise.all([one.stop(), other.stop()]);
  });

  describe('through a proxy that loses what RabbitMQ sends', () => {
    let proxy: FlakyProxy;
    beforeEach(async () => {
      proxy = await flakyProxy(url);
      broker = new Broker({ url: proxy.url, name: 'test', namespace }, logger);
    });
    afterEach(() => proxy.stop());

    it('is replaced although the connection ended before RabbitMQ confirmed that a channel is closed', async () => {
      let opened = 0;
      broker.use(async (_channel, connection) => {
        opened += 1;
        if (opened > 1) return;
        const other = await connection.createChannel();
        proxy.discardData();
        const closing = close(other);
        proxy.sever();
        await closing;
      });
      broker.start();
      await eventually(() => opened === 2 && broker.connected);
    });

    it('is stopped although the connection ended before RabbitMQ confirmed that it is closed', async () => {
      broker.start();
      await eventually(() => broker.connected);
      proxy.discardData();
      const stopping = broker.stop();
      proxy.sever();
      await stopping;
      expect(broker.connected).toBe(false);
    });
  });
});
