import { messages, type Message, topologyOf } from '@fulfilment/contracts';
import { ReplayQueue } from './index.js';
import { eventually } from '@fulfilment/testing';
import { connect } from 'amqplib';
import { type ScratchBroker, scratchBroker } from './testing/scratch-broker.js';

const cancellations = (count: number): Message[] =>
  Array.from({ length: count }, () =>
    messages.fulfilmentCancelled.make({ order_id: 'ord_1', reason: 'a test' }, { occurredAt: new Date() }),
  );

describe('a replay queue', () => {
  let broker: ScratchBroker;
  beforeEach(async () => {
    broker = await scratchBroker(['creator-api.replay']);
  });
  afterEach(() => broker.drop());

  const withQueue = async (
    settings: { stallTimeoutMs?: number },
    work: (queue: ReplayQueue) => Promise<void>,
  ) => {
    const queue = await ReplayQueue.open({ ...broker, ...settings }, 'creator-api.replay');
    try {
      await work(queue);
    } finally {
      await queue.close();
    }
  };

  /** Writes 2000 messages, in parts that RabbitMQ confirms soon. */
  const fill = async (queue: ReplayQueue) => {
    for (let part = 0; part < 4; part += 1) await queue.write(cancellations(500));
  };

  it('bypasses the exchange, so that no other queue receives its messages', async () => {
    await withQueue({}, (queue) => queue.write(cancellations(10)));
    const [later] = cancellations(1);
    if (later !== undefined) await broker.publish(later);
    await eventually(() => broker.published.length > 0);
    expect(broker.published).toEqual([later]);
  });

  it('accepts no messages while 2000 wait, until one is consumed', async () => {
    const connection = await connect(broker.url);
    const channel = await connection.createChannel();
    const name = topologyOf(broker.namespace).queue('creator-api.replay');
    await withQueue({}, async (queue) => {
      await fill(queue);
      let isWritten = false;
      const next = queue.write(cancellations(500)).then(() => {
        isWritten = true;
      });
      expect((await channel.checkQueue(name)).messageCount).toBe(2_000);
      expect(isWritten).toBe(false);
      await channel.prefetch(1);
      await channel.consume(name, () => undefined); // takes one message, and does not acknowledge it
      await next;
      expect((await channel.checkQueue(name)).messageCount).toBe(2_000 - 1 + 500);
    });
    await connection.close();
  });

  it('fails to write when it is full and no consumer reads it', async () => {
    await withQueue({ stallTimeoutMs: 100 }, async (queue) => {
      await fill(queue);
      await expect(queue.write(cancellations(1))).rejects.toThrow('does not shrink');
    });
  });

  it('fails to write when it does not exist', async () => {
    const queue = await ReplayQueue.open({ ...broker, namespace: 'unused' }, 'creator-api.replay');
    await expect(queue.write(cancellations(1))).rejects.toThrow('unused.creator-api.replay');
    await queue.close().catch(() => undefined);
  });
});
