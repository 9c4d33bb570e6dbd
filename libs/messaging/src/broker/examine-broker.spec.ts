import { messageQueues, topologyOf } from '@fulfilment/contracts';
import { connect } from 'amqplib';
import { examineBroker } from './examine-broker.js';
import { type ScratchBroker, scratchBroker } from '../testing/scratch-broker.js';

describe('examineBroker', () => {
  let broker: ScratchBroker;
  beforeEach(async () => {
    broker = await scratchBroker(['webhook-worker.clients']);
  });
  afterEach(() => broker.drop());

  it('names queues that do not exist, and declares none', async () => {
    const missing = ['webhook-worker.events.v2', 'webhook-worker.events.dead'].map(
      (queue) => `${broker.namespace}.${queue}`,
    );
    // The second examination would find queues that the first one had declared.
    for (const _round of [1, 2])
      expect(await examineBroker('webhook-worker', broker)).toMatchObject({ missing, different: [] });
  });

  it('names a queue whose arguments differ', async () => {
    const topology = topologyOf(broker.namespace);
    const connection = await connect(broker.url);
    const channel = await connection.createChannel();
    await channel.assertQueue(topology.queue('webhook-worker.events'), { durable: true });
    await channel.assertQueue(topology.deadLetterQueue('webhook-worker.events'), { durable: true });
    await connection.close();
    const found = await examineBroker('webhook-worker', broker);
    expect(found).toEqual({
      version: expect.stringMatching(/^\d+\.\d+/),
      missing: [],
      different: ['webhook-worker.events'],
      unusableNodes: [],
      clusters: [expect.any(String)],
    });
  });

  it('re-creates a missing binding of a queue, and its missing dead-letter exchange', async () => {
    const topology = topologyOf(broker.namespace);
    const name = 'webhook-worker.clients';
    const [queue, deadLetterQueue] = [topology.queue(name), topology.deadLetterQueue(name)];
    const deadLetterExchange = topology.deadLetterExchange(name);
    const connection = await connect(broker.url);
    const channel = await connection.createConfirmChannel();
    const [pattern] = messageQueues[name];
    await channel.unbindQueue(queue, topology.factsExchange, pattern);
    await channel.deleteExchange(deadLetterExchange);
    await examineBroker('webhook-worker', broker);
    await broker.publishRaw('client.disconnected', Buffer.from('{}'));
    channel.publish(deadLetterExchange, deadLetterQueue, Buffer.from('{}'));
    await channel.waitForConfirms();
    for (const routed of [queue, deadLetterQueue]) expect(await channel.get(routed)).not.toBe(false);
    await connection.close();
  });
});
