import { type Message, messages } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { randomUUID } from 'node:crypto';
import { DeferredEvents } from './deferred-events.js';
import { permutations } from './permutations.fixture.js';
import { orderBody, type StoreApiUnderTest, startStoreApi, type TestCreator } from '../store-api.fixture.js';

const age = statement(
  'test.age-held',
  `UPDATE deferred_events SET deferred_at = deferred_at - interval '2 days', retry_at = now() WHERE message_id = $1`,
);
const dueNow = statement(
  'test.held-due',
  'UPDATE deferred_events SET retry_at = now() WHERE message_id = $1',
);
const outdate = statement(
  'test.outdate-held',
  `UPDATE deferred_events SET retry_at = now(), body = jsonb_set(body, '{version}', '9') WHERE message_id = $1`,
);
const heldOf = statement('test.held', 'SELECT count(*) AS held FROM deferred_events');
const setStatus = statement('test.set-status', 'UPDATE orders SET status = $2 WHERE id::text = $1');
const uuidOf = statement('test.newest', 'SELECT id::text AS id FROM orders ORDER BY created_at DESC LIMIT 1');

describe('fulfilment events of an order', () => {
  let store: StoreApiUnderTest;
  let creator: TestCreator;
  let sku: string;
  let rate: string;

  beforeAll(async () => {
    store = await startStoreApi();
    creator = await store.creator();
    [sku = ''] = (await store.release(creator.id)).skus;
    rate = await store.quote(creator.token);
  });
  afterAll(() => store.stop());

  const placed = async (): Promise<string> =>
    (await store.post('/store/v1/orders', creator.token, orderBody(sku, rate))).body.id;
  const read = async (id: string) => (await store.get(`/store/v1/orders/${id}`, creator.token)).body;
  const report = async (message: Message) => {
    await store.broker.publish(message);
    return store.outcomeOf(message);
  };
  const becomes = (message: Message, outcome: string) =>
    eventually(async () => (await store.outcomeOf(message)).outcome === outcome);
  const minute = (number: number) => ({ occurredAt: new Date(Date.UTC(2026, 0, 1, 9, number)) });
  const parcel = (order_id: string, tracking_number: string) => ({
    order_id,
    carrier: 'Royal Mail',
    tracking_number,
    tracking_url: `https://track.example/${tracking_number}`,
  });
  /** Events by time: two packages, one corrected, all delivered. */
  const storyOf = (id: string): [Message, Message, Message, Message] => [
    messages.fulfilmentShipped.make(parcel(id, 'A'), minute(1)),
    messages.fulfilmentShipped.make(parcel(id, 'B'), minute(2)),
    messages.fulfilmentTrackingCorrected.make(
      { ...parcel(id, 'A2'), replaces_tracking_number: 'A' },
      minute(3),
    ),
    messages.fulfilmentDelivered.make({ order_id: id }, minute(4)),
  ];
  const takenLetters = () => store.broker.takeDeadLetters('store-api.fulfilment');
  const publishedCount = (id: string, type: string) =>
    new Set(
      store
        .published(type)
        .filter(({ data }) => JSON.stringify(data).includes(id))
        .map((message) => message.id),
    ).size;

  it('have the same result in any order of arrival, also with repetitions', async () => {
    for (const order of permutations([0, 1, 2, 3])) {
      const id = await placed();
      const story = storyOf(id);
      const inOrder = order.map((index) => story[index] ?? story[0]);
      for (const message of [...inOrder, ...inOrder]) await report(message);
      for (const message of inOrder) await report({ ...message, id: randomUUID() });
      const { status, tracking } = await read(id);
      const packages = tracking.packages.map((one: { tracking_number: string; delivered_at: unknown }) => [
        one.tracking_number,
        one.delivered_at === null,
      ]);
      expect({ order, status, packages }).toEqual({
        order,
        status: 'delivered',
        packages: [
          ['A2', false],
          ['B', false],
        ],
      });
    }
    expect(await store.database.row(heldOf)).toEqual({ held: 0 });
    expect(await store.broker.takeDeadLetters('store-api.fulfilment')).toEqual([]);
  });

  it('are deferred with a reason until the event they need arrives, and each message is published once', async () => {
    const id = await placed();
    const [shipped, , , delivered] = storyOf(id);
    expect(await report(delivered)).toMatchObject({
      outcome: 'held',
      reason: 'cannot deliver an order that is still processing',
    });
    await report(shipped);
    await becomes(delivered, 'applied');
    expect((await read(id)).status).toBe('delivered');
    const uuid = (await store.database.row<{ id: string }>(uuidOf))?.id ?? '';
    await eventually(() => publishedCount(uuid, 'order.delivered') === 1);
    expect(publishedCount(uuid, 'order.shipped')).toBe(1);
  });

  it('are retried on their own when the order changed without an event', async () => {
    const id = await placed();
    const uuid = (await store.database.row<{ id: string }>(uuidOf))?.id;
    await store.database.run(setStatus, [uuid, 'pending']); // its charge has no outcome yet
    const cancelled = messages.fulfilmentCancelled.make({ order_id: id, reason: 'no stock' }, minute(1));
    expect(await report(cancelled)).toMatchObject({ outcome: 'held' });
    await store.database.run(setStatus, [uuid, 'processing']);
    await store.database.run(dueNow, [cancelled.id]);
    await store.app.get(DeferredEvents).round();
    await becomes(cancelled, 'applied');
    expect((await read(id)).status).toBe('cancelled');
  });

  it('are rejected with a reason when they waited too long, and retried when the dead letter is replayed', async () => {
    const id = await placed();
    const [shipped, , , delivered] = storyOf(id);
    await report(delivered);
    await store.database.run(age, [delivered.id]);
    await store.app.get(DeferredEvents).round();
    await becomes(delivered, 'refused');
    expect(await store.broker.takeDeadLetters('store-api.fulfilment')).toEqual([
      'cannot deliver an order that is still processing; waited for 86400 s',
    ]);
    expect((await read(id)).status).toBe('processing');
    await store.app.get(DeferredEvents).round();
    await store.broker.publish(delivered);
    await becomes(delivered, 'held'); // its wait restarts
    await report(shipped);
    await becomes(delivered, 'applied');
    expect((await read(id)).status).toBe('delivered');
  });

  it('are rejected once when another event made them invalid', async () => {
    const id = await placed();
    const [, , , delivered] = storyOf(id);
    await report(delivered);
    await report(messages.fulfilmentCancelled.make({ order_id: id, reason: 'no stock' }, minute(1)));
    await store.app.get(DeferredEvents).round();
    await becomes(delivered, 'refused');
    await store.database.run(dueNow, [delivered.id]);
    await store.app.get(DeferredEvents).round();
    expect(await store.database.row(heldOf)).toEqual({ held: 0 });
    expect(await store.broker.takeDeadLetters('store-api.fulfilment')).toEqual([
      'cannot deliver an order that is cancelled',
    ]);
  });

  it('are rejected, without delaying others, when their format is no longer known', async () => {
    const [old, other] = [await placed(), await placed()];
    const [shipped, , , outdated] = storyOf(old);
    const delivered = messages.fulfilmentDelivered.make({ order_id: other }, minute(4));
    await report(outdated);
    await report(delivered);
    await store.database.run(outdate, [outdated.id]);
    await store.database.run(dueNow, [delivered.id]);
    expect(await report(shipped)).toMatchObject({ outcome: 'applied' });
    await store.app.get(DeferredEvents).round();
    await becomes(outdated, 'refused');
    await report(messages.fulfilmentShipped.make(parcel(other, 'Z'), minute(1)));
    await becomes(delivered, 'applied');
    expect(await eventually(async () => (await takenLetters()).at(0))).toBe(
      'fulfilment.delivered has no version 9',
    );
    expect(await store.database.row(heldOf)).toEqual({ held: 0 });
  });

  it('are rejected at once when no later event could make them valid', async () => {
    const id = await placed();
    const [shipped, second, , delivered] = storyOf(id);
    await report(messages.fulfilmentCancelled.make({ order_id: id, reason: 'no stock' }, minute(0)));
    expect(await report(shipped)).toMatchObject({ reason: 'cannot ship an order that is cancelled' });
    expect(await report(delivered)).toMatchObject({ reason: 'cannot deliver an order that is cancelled' });
    expect(await report(second)).toMatchObject({ outcome: 'refused' });
    expect(await store.broker.takeDeadLetters('store-api.fulfilment')).toHaveLength(3);
    expect((await read(id)).status).toBe('cancelled');
  });
});
