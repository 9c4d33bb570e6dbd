import { topologyOf } from '@fulfilment/contracts';
import { RejectedMessage } from '../index.js';
import { metrics } from '@fulfilment/runtime';
import { connect } from 'amqplib';
import { stockSetMessages } from '../testing/effects-replica.js';
import { effectsTestbed } from '../testing/effects-testbed.js';
import { eventually } from '@fulfilment/testing';

const queue = 'store-api.fulfilment';
const gaugeValue = async (name: string): Promise<number | undefined> =>
  (await metrics.getSingleMetric(name)?.get())?.values.find(({ labels }) => labels.queue === queue)?.value;

describe('the queue gauges', () => {
  it('report waiting messages, and dead letters from the service or another publisher', async () => {
    const testbed = await effectsTestbed(queue);
    const { broker } = testbed;
    const released = Promise.withResolvers<void>();
    const sent = stockSetMessages(10);
    await testbed.start({
      batchSize: 1,
      gaugeIntervalMs: 20,
      onHandle: (_, { id }) => {
        if (id === sent[0]?.id) throw new RejectedMessage('rejected by the test');
        return released.promise;
      },
    });
    try {
      await broker.publish(...sent);
      // Of ten messages, one is dead-lettered and two (twice the batch size) are prefetched.
      await eventually(async () => (await gaugeValue('messaging_queue_messages')) === 7);
      await eventually(async () => (await gaugeValue('messaging_dead_letters')) === 1);
      const connection = await connect(broker.url);
      const channel = await connection.createConfirmChannel();
      const topology = topologyOf(broker.namespace);
      channel.sendToQueue(topology.deadLetterQueue(queue), Buffer.from('{}'));
      await channel.waitForConfirms();
      await connection.close();
      await eventually(async () => (await gaugeValue('messaging_dead_letters')) === 2);
      released.resolve();
      await eventually(async () => (await gaugeValue('messaging_queue_messages')) === 0);
      await broker.takeDeadLetters(queue);
      await eventually(async () => (await gaugeValue('messaging_dead_letters')) === 0);
    } finally {
      released.resolve();
      await testbed.stop();
    }
  });
});
