/** Tests of a queue that is divided into lanes and shards (ADR 44). */
import { type Message, messages, publicId, shardOf, topologyOf, uuidv7 } from '@fulfilment/contracts';
import { eventually, flakyProxy } from '@fulfilment/testing';
import { type EffectsTestbed, effectsTestbed } from '../testing/effects-testbed.js';

const queue = 'store-api.fulfilment';
const anyTime = { occurredAt: new Date() };
const reason = 'a test';
const orderIds = (count: number) => Array.from({ length: count }, () => publicId('ord', uuidv7()));
const cancellationOf = (order_id: string) => messages.fulfilmentCancelled.make({ order_id, reason }, anyTime);
const stockCountOf = (sku: string) => messages.fulfilmentStockSet.make({ sku, quantity: 1 }, anyTime);
const idsOf = (sent: readonly Message[]) => sent.map(({ id }) => id);
const orderIdOf = ({ data }: Message): unknown =>
  typeof data === 'object' && data !== null ? Reflect.get(data, 'order_id') : undefined;

describe('a sharded queue', () => {
  let testbed: EffectsTestbed;
  beforeEach(async () => {
    testbed = await effectsTestbed(queue);
  });
  afterEach(() => testbed.stop());

  /** Expects that each message was applied once, and those about one order in the sequence of `sent`. */
  const expectEachOnceInSequence = (applied: readonly string[], sent: readonly Message[]) => {
    expect(applied.toSorted()).toEqual(idsOf(sent).toSorted());
    for (const [order, ofOrder] of Map.groupBy(sent, orderIdOf)) {
      const ids = new Set(idsOf(ofOrder));
      expect([order, applied.filter((id) => ids.has(id))]).toEqual([order, idsOf(ofOrder)]);
    }
  };

  it('divides a backlog between replicas, and keeps the sequence of messages about one order', async () => {
    const orders = orderIds(16);
    const sent = Array.from({ length: 150 }, () => orders.map(cancellationOf)).flat();
    await testbed.broker.publish(...sent);
    const handledCounts = [0, 0]; // of the two replicas
    const bothStarted = Promise.withResolvers<void>();
    for (const index of [0, 1])
      await testbed.start({
        batchSize: 10,
        consumerTimes: { shardTimeSliceMs: 0 }, // another replica continues as soon as possible
        onHandle: async () => {
          await bothStarted.promise;
          handledCounts[index] = (handledCounts[index] ?? 0) + 1;
        },
      });
    bothStarted.resolve();
    expectEachOnceInSequence(await testbed.untilApplied(sent.length), sent);
    // A tenth suffices, since chance decides which replica continues a shard.
    for (const count of handledCounts) expect(count).toBeGreaterThan(sent.length / 10);
  });

  it('keeps the sequence of messages about one order when the connection of a replica is cut', async () => {
    const proxy = await flakyProxy(testbed.broker.url);
    try {
      const orders = orderIds(5);
      const sent = Array.from({ length: 60 }, () => orders.map(cancellationOf)).flat();
      const cutAt = new Set([30, 100, 170].map((index) => sent[index]?.id));
      await testbed.start({
        url: proxy.url,
        onHandle: (_, { id }) => {
          if (cutAt.delete(id)) proxy.sever();
        },
      });
      await testbed.start();
      await testbed.broker.publish(...sent);
      expectEachOnceInSequence(await testbed.untilApplied(sent.length), sent);
      expect(cutAt.size).toBeLessThan(3); // the other replica may handle the later ones
    } finally {
      await proxy.stop();
    }
  });

  it('applies stock counts while no fulfilment event of an order can be applied', async () => {
    const released = Promise.withResolvers<void>();
    try {
      await testbed.start({
        onHandle: (_, { type }) => (type.startsWith('fulfilment.stock_') ? undefined : released.promise),
      });
      const cancellations = orderIds(100).map(cancellationOf);
      const counts = Array.from({ length: 20 }, () => stockCountOf(publicId('prod', uuidv7())));
      await testbed.broker.publish(...cancellations, ...counts);
      const applied = await testbed.untilApplied(counts.length);
      expect(applied.toSorted()).toEqual(idsOf(counts).toSorted());
      released.resolve();
      await testbed.untilApplied([...cancellations, ...counts].length);
    } finally {
      released.resolve();
    }
  });

  it('applies fulfilment events of orders in other shards while one shard waits', async () => {
    const [blocked = '', ...others] = orderIds(40);
    const sharded = topologyOf(testbed.broker.namespace).sharded(queue);
    const shard = (message: Message) => sharded && shardOf(sharded, Buffer.from(JSON.stringify(message)));
    const first = cancellationOf(blocked);
    const cancellations = others.map(cancellationOf);
    const elsewhere = cancellations.filter((message) => shard(message) !== shard(first));
    const released = Promise.withResolvers<void>();
    try {
      await testbed.start({ onHandle: (_, { id }) => (id === first.id ? released.promise : undefined) });
      await testbed.broker.publish(first, ...cancellations);
      const applied = await testbed.untilApplied(elsewhere.length);
      expect(applied).toEqual(expect.arrayContaining(idsOf(elsewhere)));
      expect(applied).not.toContain(first.id);
      released.resolve();
      await testbed.untilApplied([first, ...cancellations].length);
    } finally {
      released.resolve();
    }
  });

  it('dead-letters a message of a type that no lane names', async () => {
    await testbed.start();
    const unknown = { ...stockCountOf('prod_x'), type: 'fulfilment.unknown' };
    await testbed.broker.publish(unknown);
    const reasons = await eventually(async () => {
      const found = await testbed.broker.takeDeadLetters(queue);
      return found.length === 0 ? undefined : found;
    });
    expect(reasons).toEqual(['unknown type fulfilment.unknown']);
  });
});
