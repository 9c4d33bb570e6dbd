import { messages, type Message } from '@fulfilment/contracts';
import { DeadLetterQueues, RejectedMessage } from './index.js';
import { appliedIds } from './testing/effects-replica.js';
import { type EffectsTestbed, effectsTestbed } from './testing/effects-testbed.js';
import { eventually, flakyProxy } from '@fulfilment/testing';

const queue = 'store-api.fulfilment';
const cancelled = (): Message =>
  messages.fulfilmentCancelled.make(
    { order_id: 'ord_1', reason: 'Aiko Mori of 1 Quay Street asked for it' },
    { occurredAt: new Date() },
  );

describe('dead letters', () => {
  let testbed: EffectsTestbed;
  let broker: EffectsTestbed['broker'];
  let letters: DeadLetterQueues;
  let onHandle: (message: Message) => void;

  beforeEach(async () => {
    testbed = await effectsTestbed(queue);
    ({ broker } = testbed);
    letters = await DeadLetterQueues.open(broker);
    onHandle = () => {
      throw new RejectedMessage('not now');
    };
    await testbed.start({ batchSize: 10, onHandle: (_, message) => onHandle(message) });
  });
  afterEach(async () => {
    await letters.close().catch(() => undefined);
    await testbed.stop();
  });

  const untilCount = (count: number, timeoutMs?: number) =>
    eventually(async () => (await letters.count(queue)) === count, timeoutMs);
  const effects = async () => (await appliedIds(testbed.scratch.database)).sort();
  const reject = async (...sent: Message[]) => {
    await broker.publish(...sent);
    await untilCount(sent.length, 60_000);
  };

  it('show type, id and reason of a message, and no personal data', async () => {
    const message = cancelled();
    await reject(message);
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
    const sent = Array.from({ length: 5 }, cancelled);
    await reject(...sent);
    await broker.publishRaw('fulfilment.shipped', Buffer.from('{'));
    await untilCount(6);
    const first = await letters.list(queue);
    expect(first.slice(0, 5).map(({ id }) => id)).toEqual(sent.map(({ id }) => id));
    expect(first[5]).toMatchObject({ id: expect.stringMatching(/^sha256-/), type: null, reason: 'not JSON' });
    for (let times = 0; times < 25; times += 1) expect(await letters.list(queue)).toEqual(first);
  });

  it('are listed in order up to 1000, and found, discarded and replayed by id beyond that', async () => {
    const sent = Array.from({ length: 1_200 }, cancelled);
    const ids = sent.map(({ id }) => id);
    await reject(...sent);
    const listed = async () => (await letters.list(queue)).map(({ id }) => id);
    for (let times = 0; times < 2; times += 1) expect(await listed()).toEqual(ids.slice(0, 1000));
    const last = ids.at(-1) ?? '';
    expect(await letters.find(queue, last)).toMatchObject({ id: last, reason: 'not now' });
    expect(await letters.discard(queue, last)).toEqual([last]);
    onHandle = () => undefined;
    expect(await letters.replay(queue, ids[1_100])).toEqual([ids[1_100]]);
    expect(await letters.count(queue)).toBe(1_198);
    expect(await listed()).toEqual(ids.slice(0, 1000));
    expect(await letters.replay(queue)).toHaveLength(1_198);
    await eventually(async () => (await effects()).length === 1_199, 60_000);
  }, 180_000);

  it('remain, each once, after concurrent listings', async () => {
    const sent = Array.from({ length: 8 }, cancelled);
    await reject(...sent);
    const listOnConnection = async () => {
      const queues = await DeadLetterQueues.open(broker);
      await queues.list(queue);
      await queues.close();
    };
    for (let times = 0; times < 5; times += 1)
      await Promise.all([listOnConnection(), listOnConnection(), listOnConnection()]);
    expect(await letters.count(queue)).toBe(8);
    expect((await letters.list(queue)).map(({ id }) => id).sort()).toEqual(sent.map(({ id }) => id).sort());
  });

  it('are replayed with their ids to their own queue, one or all', async () => {
    const sent = Array.from({ length: 3 }, cancelled);
    await reject(...sent);
    onHandle = () => undefined;
    const [one = ''] = sent.map(({ id }) => id);
    expect(await letters.replay(queue, one)).toEqual([one]);
    await eventually(async () => (await effects()).length === 1);
    expect(await letters.count(queue)).toBe(2);
    expect(await letters.replay(queue)).toHaveLength(2);
    await eventually(async () => (await effects()).length === 3);
    expect(await effects()).toEqual(sent.map(({ id }) => id).sort());
    expect([await letters.count(queue), await letters.replay(queue, one)]).toEqual([0, []]);
    expect(broker.published).toHaveLength(3); // the replays did not go through the exchange
  });

  it('return, and are listed once, when they are rejected again', async () => {
    await reject(cancelled(), cancelled());
    expect(await letters.replay(queue)).toHaveLength(2);
    await untilCount(2);
    expect(await letters.list(queue)).toHaveLength(2);
  });

  it('are neither lost nor applied twice when the connection of a replay is cut', async () => {
    const sent = Array.from({ length: 10 }, cancelled);
    await reject(...sent);
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
      return (await effects()).length === 10 && (await letters.count(queue)) === 0;
    });
    expect(await effects()).toEqual(sent.map(({ id }) => id).sort());
    await proxy.stop();
  });

  it('are deleted when they are discarded', async () => {
    const [one, other] = [cancelled(), cancelled()];
    await reject(one, other);
    expect(await letters.discard(queue, one.id)).toEqual([one.id]);
    expect((await letters.list(queue)).map(({ id }) => id)).toEqual([other.id]);
    expect(await letters.discard(queue, one.id)).toEqual([]);
    expect(await effects()).toEqual([]);
  });
});
