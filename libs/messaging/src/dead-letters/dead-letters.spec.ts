import { messages, type Message, topologyOf } from '@fulfilment/contracts';
import { close } from '../broker/close.js';
import { ConfirmedPublisher } from '../broker/confirmed-publisher.js';
import { connect } from 'amqplib';
import { DeadLetterQueues, RejectedMessage } from '../index.js';
import { deadLetterOf } from './dead-letter-message.js';
import { appliedIds } from '../testing/effects-replica.js';
import { scratchBroker } from '../testing/scratch-broker.js';
import { type EffectsTestbed, effectsTestbed } from '../testing/effects-testbed.js';
import { eventually, flakyProxy } from '@fulfilment/testing';

const queue = 'store-api.fulfilment';
const aCancellation = (): Message =>
  messages.fulfilmentCancelled.make(
    { order_id: 'ord_1', reason: 'Aiko Mori of 1 Quay Street asked for it' },
    { occurredAt: new Date() },
  );

describe('dead letters', () => {
  let testbed: EffectsTestbed;
  let broker: EffectsTestbed['broker'];
  let letters: DeadLetterQueues;
  let onHandle: (message: Message) => void;

  beforeAll(async () => {
    testbed = await effectsTestbed(queue);
    ({ broker } = testbed);
    letters = await DeadLetterQueues.open(broker);
    await testbed.start({ batchSize: 100, onHandle: (_, message) => onHandle(message) });
  });
  beforeEach(() => {
    onHandle = () => {
      throw new RejectedMessage('not now');
    };
  });
  afterEach(async () => {
    await broker.takeDeadLetters(queue);
    await testbed.scratch.dataSource.query('DELETE FROM effects');
  });
  afterAll(async () => {
    await letters.close();
    await testbed.stop();
  });

  const untilDeadLetters = (count: number) => eventually(async () => (await letters.count(queue)) >= count);
  const effectIds = async () => (await appliedIds(testbed.scratch.database)).sort();
  const publishRejected = async (...sent: Message[]) => {
    await broker.publish(...sent);
    await untilDeadLetters(sent.length);
  };
  /**
   * Writes dead letters as a consumer does, but faster than a consumer rejects them one by one.
   * @param messageId the AMQP message id of all of them
   */
  const writeDeadLetters = async (sent: readonly Pick<Message, 'type'>[], messageId?: string) => {
    const connection = await connect(broker.url);
    const channel = await connection.createConfirmChannel();
    const topology = topologyOf(broker.namespace);
    const publisher = new ConfirmedPublisher(channel);
    await publisher.publish(
      sent.map((message) => {
        const raw = { content: Buffer.from(JSON.stringify(message)), properties: { messageId } };
        return deadLetterOf(topology, queue, raw, 'not now');
      }),
    );
    await close(connection);
  };

  it('show type, id and reason of a message, and no personal data', async () => {
    const message = aCancellation();
    await publishRejected(message);
    const [letter, ...others] = await letters.list(queue);
    expect(letter).toEqual({
      queue,
      id: message.id,
      type: 'fulfilment.cancelled',
      reason: 'not now',
      // words: name of a member
      refused_at: expect.stringMatching(/^\d{4}-.*Z$/),
      occurred_at: message.occurred_at,
      bytes: expect.any(Number),
      about: { order_id: 'ord_1' },
    });
    expect(others).toEqual([]);
  });

  it('remain when they are listed, in the same order each time', async () => {
    const sent = Array.from({ length: 5 }, aCancellation);
    await publishRejected(...sent);
    await broker.publishRaw('fulfilment.shipped', Buffer.from('{'));
    await untilDeadLetters(6);
    const first = await letters.list(queue);
    expect(first.slice(0, 5).map(({ id }) => id)).toEqual(sent.map(({ id }) => id));
    expect(first[5]).toMatchObject({ id: expect.stringMatching(/^sha256-/), type: null, reason: 'not JSON' });
    // More often than RabbitMQ delivers a message that returns to its queue (20 times).
    for (let times = 0; times < 25; times += 1) expect(await letters.list(queue)).toEqual(first);
  });

  it('are listed in order up to 1000, and found, discarded and replayed by id beyond that', async () => {
    const sent = Array.from({ length: 1_020 }, aCancellation);
    const ids = sent.map(({ id }) => id);
    await writeDeadLetters(sent);
    const listed = async () => (await letters.list(queue)).map(({ id }) => id);
    expect(await listed()).toEqual(ids.slice(0, 1000));
    const last = ids.at(-1) ?? '';
    expect(await letters.find(queue, last)).toMatchObject({ id: last, reason: 'not now' });
    expect(await letters.discard(queue, last)).toEqual([last]);
    onHandle = () => undefined;
    expect(await letters.replay(queue, ids[1_010])).toEqual([ids[1_010]]);
    expect(await letters.count(queue)).toBe(1_018); // without the discarded and the replayed one
    expect(await listed()).toEqual(ids.slice(0, 1000));
    expect(await letters.replay(queue)).toHaveLength(1_018);
    // All but the discarded.
    await eventually(async () => (await effectIds()).length === 1_019, { timeoutMs: 120_000 });
  }, 300_000);

  it('remain, each under its own id, when they have one AMQP message id', async () => {
    const sent = [aCancellation(), aCancellation()];
    await writeDeadLetters(sent, 'order-1');
    for (let times = 0; times < 2; times += 1)
      expect((await letters.list(queue)).map(({ id }) => id)).toEqual(sent.map(({ id }) => id));
    expect(await letters.count(queue)).toBe(2);
  });

  it('remain when they have one AMQP message id, no id of their own and different content', async () => {
    await writeDeadLetters([{ type: 'fulfilment.shipped' }, { type: 'fulfilment.cancelled' }], 'order-1');
    for (let times = 0; times < 2; times += 1)
      expect(await letters.list(queue)).toMatchObject([
        { id: 'order-1', type: 'fulfilment.shipped' },
        { id: 'order-1', type: 'fulfilment.cancelled' },
      ]);
    expect(await letters.count(queue)).toBe(2);
  });

  it('remain, each once, after concurrent listings', async () => {
    const sent = Array.from({ length: 8 }, aCancellation);
    await publishRejected(...sent);
    const listOnConnection = async () => {
      const queues = await DeadLetterQueues.open(broker);
      await queues.list(queue);
      await queues.close();
    };
    for (let times = 0; times < 3; times += 1)
      await Promise.all([listOnConnection(), listOnConnection(), listOnConnection()]);
    expect(await letters.count(queue)).toBe(8);
    expect((await letters.list(queue)).map(({ id }) => id).sort()).toEqual(sent.map(({ id }) => id).sort());
  });

  it('are replayed with their ids to their own queue, one or all', async () => {
    const publishedBefore = broker.published.length;
    const sent = Array.from({ length: 3 }, aCancellation);
    await publishRejected(...sent);
    onHandle = () => undefined;
    const [one = ''] = sent.map(({ id }) => id);
    expect(await letters.replay(queue, one)).toEqual([one]);
    await eventually(async () => (await effectIds()).length === 1);
    expect(await letters.count(queue)).toBe(2);
    expect(await letters.replay(queue)).toHaveLength(2);
    await eventually(async () => (await effectIds()).length === 3);
    expect(await effectIds()).toEqual(sent.map(({ id }) => id).sort());
    expect([await letters.count(queue), await letters.replay(queue, one)]).toEqual([0, []]);
    // The replays did not go through the exchange.
    expect(broker.published.slice(publishedBefore).map(({ id }) => id)).toEqual(sent.map(({ id }) => id));
  });

  it('return, and are listed once, when they are rejected again', async () => {
    await publishRejected(aCancellation(), aCancellation());
    expect(await letters.replay(queue)).toHaveLength(2);
    await untilDeadLetters(2);
    expect(await letters.list(queue)).toHaveLength(2);
  });

  it('are neither lost nor applied twice when the connection of a replay is cut', async () => {
    const sent = Array.from({ length: 10 }, aCancellation);
    await publishRejected(...sent);
    const proxy = await flakyProxy(broker.url);
    let handled = 0;
    onHandle = () => {
      handled += 1;
      if (handled === 1) proxy.sever();
    };
    const interrupted = await DeadLetterQueues.open({ url: proxy.url, namespace: broker.namespace });
    await interrupted.replay(queue).catch(() => undefined); // cut before or after the broker's confirmation
    await eventually(async () => {
      await letters.replay(queue);
      return (await effectIds()).length === 10 && (await letters.count(queue)) === 0;
    });
    expect(await effectIds()).toEqual(sent.map(({ id }) => id).sort());
    await proxy.stop();
  });

  it('are deleted when they are discarded', async () => {
    const [one, other] = [aCancellation(), aCancellation()];
    await publishRejected(one, other);
    expect(await letters.discard(queue, one.id)).toEqual([one.id]);
    expect((await letters.list(queue)).map(({ id }) => id)).toEqual([other.id]);
    expect(await letters.discard(queue, one.id)).toEqual([]);
    expect(await effectIds()).toEqual([]);
  });

  it('cannot be listed when the user may not declare the queue that locks a scan', async () => {
    const forbidden = await DeadLetterQueues.open({ url: broker.url, namespace: 'amq' }); // a reserved prefix
    await expect(forbidden.list(queue)).rejects.toThrow('ACCESS_REFUSED');
    await forbidden.close();
  });
});

describe('a message of a shared queue that returns to it', () => {
  it('is dead-lettered by RabbitMQ when it returns for the 21st time', async () => {
    const name = 'webhook-worker.clients';
    const broker = await scratchBroker([name]);
    const connection = await connect(broker.url);
    const channel = await connection.createChannel();
    await broker.publish(messages.clientDeleted.make({ client_id: 'a' }, { occurredAt: new Date() }));
    let returns = 0;
    for (;;) {
      const raw = await channel.get(topologyOf(broker.namespace).queue(name));
      if (raw === false) break;
      channel.nack(raw);
      returns += 1;
    }
    expect(returns).toBe(21);
    expect(await eventually(async () => (await broker.takeDeadLetters(name)).length)).toBe(1);
    await connection.close();
    await broker.drop();
  });
});
