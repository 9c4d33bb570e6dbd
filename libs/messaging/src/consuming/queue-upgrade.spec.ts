import { type Message, parseMessage, topologyOf } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { type ChannelModel, connect, type ConsumeMessage } from 'amqplib';
import { close } from '../broker/close.js';
import { eventually } from '@fulfilment/testing';
import { appliedIds, stockSetMessages } from '../testing/effects-replica.js';
import { type EffectsTestbed, effectsTestbed } from '../testing/effects-testbed.js';

const queue = 'store-api.fulfilment';
const claim = statement(
  'test.claim',
  `INSERT INTO inbox (message_id, queue, outcome) VALUES ($1, '${queue}', 'applied') ON CONFLICT DO NOTHING`,
);
const insertEffect = statement('test.effect', 'INSERT INTO effects (message_id) VALUES ($1)');

// A change of queue arguments creates a new version of a queue (ADR 23).
describe('a retired queue, with the arguments of the previous version', () => {
  let testbed: EffectsTestbed;
  let connection: ChannelModel;
  let oldConnections: ChannelModel[];
  let retired: string;

  beforeEach(async () => {
    testbed = await effectsTestbed(queue);
    connection = await connect(testbed.broker.url);
    oldConnections = [];
    const topology = topologyOf(testbed.broker.namespace);
    [retired = ''] = topology.retiredQueues(queue);
    const channel = await connection.createChannel();
    await channel.deleteQueue(topology.queue(queue)); // the new version has never run
    await channel.close();
  });
  afterEach(async () => {
    for (const old of oldConnections) await close(old).catch(() => undefined); // the test may have closed it
    const channel = await connection.createChannel();
    await channel.deleteExchange(`${testbed.broker.namespace}.dead-letters`);
    await connection.close();
    await testbed.stop();
  });

  /** Declares the retired queue as a replica of the previous version does at its start. */
  const declareRetired = async (owner: ChannelModel) => {
    const channel = await owner.createChannel();
    const deadLetterExchange = `${testbed.broker.namespace}.dead-letters`;
    await channel.assertExchange(deadLetterExchange, 'direct', { durable: true });
    await channel.assertQueue(retired, {
      durable: true,
      deadLetterExchange,
      deadLetterRoutingKey: retired,
      arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': 20, 'x-single-active-consumer': true },
    });
    await channel.bindQueue(retired, `${testbed.broker.namespace}.facts`, 'fulfilment.*');
    return channel;
  };
  /** Starts a replica of the previous version, with its own connection and the same inbox. */
  const startOldReplica = async () => {
    const oldConnection = await connect(testbed.broker.url);
    oldConnections.push(oldConnection);
    const channel = await declareRetired(oldConnection);
    await channel.prefetch(2);
    let last: Promise<void> = Promise.resolve();
    const apply = async (raw: ConsumeMessage) => {
      const { id } = parseMessage(raw.content);
      await testbed.scratch.database.transaction(async (tx) => {
        if ((await tx.run(claim, [id])) > 0) await tx.run(insertEffect, [id]);
      });
      channel.ack(raw);
    };
    await channel.consume(retired, (raw) => {
      if (raw !== null) last = last.then(() => apply(raw)).catch(() => undefined);
    });
    return { stop: () => oldConnection.close() };
  };
  const untilApplied = async (sent: readonly Message[]) => {
    let state = '';
    return eventually(
      async () => {
        const found = await appliedIds(testbed.scratch.database);
        if (found.length >= sent.length) return found;
        state = `${found.length} of ${sent.length} effects; ${await describeQueues()}`;
        return undefined;
      },
      { describe: () => state },
    );
  };
  const idsOf = (sent: readonly Message[]) => sent.map(({ id }) => id);
  /** Returns the counts of a queue; undefined if it does not exist. */
  const inspect = async (name = retired) => {
    const channel = await connection.createChannel();
    channel.on('error', () => undefined);
    const found = await channel.checkQueue(name).catch(() => undefined);
    if (found !== undefined) await channel.close();
    return found;
  };
  /** Inspects the intake of each lane. Each lane decides separately which queue it reads. */
  const inspectIntakes = () => {
    const { lanes = [] } = topologyOf(testbed.broker.namespace).sharded(queue) ?? {};
    return Promise.all(lanes.map(({ intake }) => inspect(intake)));
  };
  const describeQueues = async () =>
    `retired queue and current intakes: ${JSON.stringify([await inspect(), ...(await inspectIntakes())])}`;

  /** The handover of a lane ends up to 500 ms after another lane has deleted the retired queue. */
  const untilHandedOver = async () => {
    let state = '';
    await eventually(
      async () => {
        const intakes = await inspectIntakes();
        state = `intakes: ${JSON.stringify(intakes)}`;
        return intakes.every((intake) => intake?.consumerCount === 1);
      },
      { describe: () => state },
    );
  };

  it('is emptied by the new version, in order and without loss, and deleted', async () => {
    await declareRetired(connection);
    const before = stockSetMessages(30);
    await testbed.broker.publish(...before);
    await Promise.all([testbed.start(), testbed.start()]);
    const after = stockSetMessages(10);
    await testbed.broker.publish(...after);
    expect(await untilApplied([...before, ...after])).toEqual(idsOf([...before, ...after]));
    await eventually(async () => (await inspect()) === undefined);
  });

  it('is consumed by old replicas while one runs, then by the new version, each message once and in order', async () => {
    const sent: Message[] = [];
    const publish = async (count: number) => {
      const more = stockSetMessages(count);
      sent.push(...more);
      await testbed.broker.publish(...more);
    };
    await declareRetired(connection);
    await publish(10);
    const old = await startOldReplica();
    await testbed.start();
    await publish(10); // to both queues
    expect(await untilApplied(sent)).toEqual(idsOf(sent));
    expect(await inspect()).toMatchObject({ consumerCount: 1 });

    const publishing = publish(100);
    await old.stop(); // with unacknowledged messages
    await publishing;
    await publish(10);
    expect(await untilApplied(sent)).toEqual(idsOf(sent));
    await untilHandedOver();
    expect(await inspect()).toBeUndefined();

    const late = await startOldReplica(); // re-creates the retired queue after the handover
    await publish(10);
    expect(await untilApplied(sent)).toEqual(idsOf(sent));
    await late.stop();
    await publish(10);
    expect(await untilApplied(sent)).toEqual(idsOf(sent));
  });
});
