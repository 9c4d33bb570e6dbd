import { topologyOf } from '@fulfilment/contracts';
import { RejectedMessage } from './index.js';
import { metrics } from '@fulfilment/runtime';
import { connect } from 'amqplib';
import { EffectsTables1700000000000, startReplica, stockCounts } from './testing/effects-replica.js';
import { eventually } from '@fulfilment/testing';
import { scratchBroker } from './testing/scratch-broker.js';
import { scratchDatabase } from '@fulfilment/database/testing';

const queue = 'store-api.fulfilment';
const gauge = async (name: string): Promise<number | undefined> =>
  (await metrics.getSingleMetric(name)?.get())?.values.find(({ labels }) => labels.queue === queue)?.value;

describe('the queue gauges', () => {
  it('report waiting messages, and dead letters of the service and of RabbitMQ', async () => {
    const scratch = await scratchDatabase([EffectsTables1700000000000]);
    const broker = await scratchBroker([queue]);
    const released = Promise.withResolvers<void>();
    const sent = stockCounts(10);
    const replica = await startReplica({
      databaseUrl: scratch.url,
      url: broker.url,
      namespace: broker.namespace,
      queue,
      batchSize: 1,
      gaugeIntervalMs: 20,
      onHandle: (_, { id }) => {
        if (id === sent[0]?.id) throw new RejectedMessage('not now');
        return released.promise;
      },
    });
    try {
      await broker.publish(...sent);
      // One dead-lettered, two unacknowledged.
      await eventually(async () => ((await gauge('messaging_queue_messages')) === 7 ? true : undefined));
      await eventually(async () => ((await gauge('messaging_dead_letters')) === 1 ? true : undefined));
      await eventually(async () =>
        ((await gauge('messaging_dead_letters_waiting_seconds')) ?? 0) > 0 ? true : undefined,
      );
      const connection = await connect(broker.url);
      const channel = await connection.createConfirmChannel();
      const topology = topologyOf(broker.namespace);
      channel.sendToQueue(topology.deadLetterQueue(queue), Buffer.from('{}'));
      await channel.waitForConfirms();
      await connection.close();
      await eventually(async () => ((await gauge('messaging_dead_letters')) === 2 ? true : undefined));
      released.resolve();
      await eventually(async () => ((await gauge('messaging_queue_messages')) === 0 ? true : undefined));
      await broker.takeDeadLetters(queue);
      await eventually(async () =>
        (await gauge('messaging_dead_letters_waiting_seconds')) === 0 ? true : undefined,
      );
    } finally {
      released.resolve();
      await replica.stop();
      await broker.drop();
      await scratch.drop();
    }
  });
});
