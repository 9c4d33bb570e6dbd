import { type Message, parsePublicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { randomUUID } from 'node:crypto';
import { DeferredEvents } from './deferred-events.js';
import {
  atMinute,
  cancelled,
  corrected,
  delivered,
  setUpOrders,
  shipped,
  permutations,
} from './fulfilment.fixture.js';
import { withoutRepetitions } from '../test/store-api.fixture.js';

const makeOverdue = statement(
  'test.make-overdue',
  `UPDATE deferred_events SET deferred_at = deferred_at - interval '2 days', retry_at = now() WHERE message_id = $1`,
);
const makeDue = statement(
  'test.make-due',
  'UPDATE deferred_events SET retry_at = now() WHERE message_id = $1',
);
const setUnknownVersion = statement(
  'test.set-unknown-version',
  `UPDATE deferred_events SET retry_at = now(), body = jsonb_set(body, '{version}', '9') WHERE message_id = $1`,
);
const removeType = statement(
  'test.remove-type',
  `UPDATE deferred_events SET retry_at = now(), body = body - 'type' WHERE message_id = $1`,
);
const countDeferred = statement('test.count-deferred', 'SELECT count(*) AS deferred FROM deferred_events');
const setStatus = statement('test.set-status', 'UPDATE orders SET status = $2 WHERE id = $1');
const insertRejectedEvents = statement(
  'test.insert-rejected-events',
  `WITH deferred AS (
     INSERT INTO deferred_events (message_id, order_id, occurred_at, body, retry_at)
     SELECT gen_random_uuid(), $1, now(), '{}', 'infinity' FROM generate_series(1, $2)
     RETURNING message_id
   )
   INSERT INTO inbox (message_id, queue, outcome) SELECT message_id, 'store-api.fulfilment', 'refused' FROM deferred`,
);

describe('fulfilment events of an order', () => {
  const setup = setUpOrders();
  const { placeOrder, readOrder } = setup;

  const publish = async (event: Message) => {
    await setup.store.broker.publish(event);
    return setup.store.outcomeOf(event);
  };
  const untilOutcome = (event: Message, outcome: string) =>
    eventually(async () => (await setup.store.outcomeOf(event)).outcome === outcome);
  const round = () => setup.store.app.get(DeferredEvents).round();
  const deferredCount = async () =>
    (await setup.store.database.row<{ deferred: number }>(countDeferred))?.deferred;
  const takeDeadLetters = () => setup.store.broker.takeDeadLetters('store-api.fulfilment');
  const uuidOf = (id: string) => parsePublicId('ord', id) ?? '';
  const publishedCount = (id: string, type: string) =>
    withoutRepetitions(setup.store.published(type)).filter(({ data }) =>
      JSON.stringify(data).includes(uuidOf(id)),
    ).length;

  it('have the same result in any order of arrival, even with repetitions', async () => {
    for (const order of permutations([0, 1, 2, 3])) {
      const id = await placeOrder();
      const events = [
        shipped(id, 'A', atMinute(1)),
        shipped(id, 'B', atMinute(2)),
        corrected(id, 'A2', atMinute(3), 'A'),
        delivered(id, atMinute(4)),
      ];
      const arriving = order.flatMap((index) => events[index] ?? []);
      for (const event of [...arriving, ...arriving]) await publish(event);
      for (const event of arriving) await publish({ ...event, id: randomUUID() });
      const { status, tracking } = await readOrder(id);
      const packages = tracking.packages.map(
        (parcel: { tracking_number: string; delivered_at: unknown }) => ({
          number: parcel.tracking_number,
          hasArrived: parcel.delivered_at !== null,
        }),
      );
      expect({ order, status, packages }).toEqual({
        order,
        status: 'delivered',
        packages: [
          { number: 'A2', hasArrived: true },
          { number: 'B', hasArrived: true },
        ],
      });
    }
    expect(await deferredCount()).toBe(0);
    expect(await takeDeadLetters()).toEqual([]);
  }, 300_000); // milliseconds for 24 orders of arrival, each with 12 messages

  it('are deferred with a reason until the event they need arrives, and each message is published once', async () => {
    const id = await placeOrder();
    const delivery = delivered(id, atMinute(4));
    expect(await publish(delivery)).toMatchObject({
      outcome: 'held',
      reason: 'cannot deliver an order that is still processing',
    });
    await publish(shipped(id, 'A', atMinute(1)));
    await untilOutcome(delivery, 'applied');
    expect((await readOrder(id)).status).toBe('delivered');
    await eventually(() => publishedCount(id, 'order.delivered') === 1);
    expect(publishedCount(id, 'order.shipped')).toBe(1);
  });

  it('are retried by the background loop when the order changed without an event', async () => {
    const id = await placeOrder();
    await setup.store.database.run(setStatus, [uuidOf(id), 'pending']); // its charge has no outcome yet
    const cancellation = cancelled(id);
    expect(await publish(cancellation)).toMatchObject({ outcome: 'held' });
    await setup.store.database.run(setStatus, [uuidOf(id), 'processing']);
    await setup.store.database.run(makeDue, [cancellation.id]);
    await round();
    await untilOutcome(cancellation, 'applied');
    expect((await readOrder(id)).status).toBe('cancelled');
  });

  it('are rejected with a reason when they waited too long, and retried when the dead letter is replayed', async () => {
    const id = await placeOrder();
    const delivery = delivered(id, atMinute(4));
    await publish(delivery);
    await setup.store.database.run(makeOverdue, [delivery.id]);
    await round();
    await untilOutcome(delivery, 'refused');
    expect(await takeDeadLetters()).toEqual([
      'cannot deliver an order that is still processing; waited for 86400 s',
    ]);
    expect((await readOrder(id)).status).toBe('processing');
    await round(); // deletes the row of the rejected event, so that its wait restarts with the replay
    await setup.store.broker.publish(delivery);
    await untilOutcome(delivery, 'held');
    await publish(shipped(id, 'A', atMinute(1)));
    await untilOutcome(delivery, 'applied');
    expect((await readOrder(id)).status).toBe('delivered');
  });

  it('are rejected once when another event made them invalid', async () => {
    const id = await placeOrder();
    const delivery = delivered(id, atMinute(4));
    await publish(delivery);
    await publish(cancelled(id));
    await round();
    await untilOutcome(delivery, 'refused');
    await setup.store.database.run(makeDue, [delivery.id]);
    await round();
    expect(await deferredCount()).toBe(0);
    expect(await takeDeadLetters()).toEqual(['cannot deliver an order that is cancelled']);
  });

  it('are rejected, without delaying others, when their format is no longer known', async () => {
    const [id, other] = [await placeOrder(), await placeOrder()];
    const [invalid, delivery] = [delivered(id, atMinute(4)), delivered(other, atMinute(4))];
    await publish(invalid);
    await publish(delivery);
    await setup.store.database.run(setUnknownVersion, [invalid.id]);
    await setup.store.database.run(makeDue, [delivery.id]);
    expect(await publish(shipped(id, 'A', atMinute(1)))).toMatchObject({ outcome: 'applied' });
    await round();
    await untilOutcome(invalid, 'refused');
    await publish(shipped(other, 'Z', atMinute(1)));
    await untilOutcome(delivery, 'applied');
    expect(await takeDeadLetters()).toEqual(['fulfilment.delivered has no version 9']);
    await setup.store.database.run(makeDue, [invalid.id]);
    await round();
    expect(await deferredCount()).toBe(0);
  });

  it('are dead-lettered, without delaying others, when their envelope is invalid', async () => {
    const [id, other] = [await placeOrder(), await placeOrder()];
    const [invalid, cancellation] = [delivered(id, atMinute(4)), cancelled(other)];
    await setup.store.database.run(setStatus, [uuidOf(other), 'pending']);
    await publish(invalid);
    await publish(cancellation);
    await setup.store.database.run(setStatus, [uuidOf(other), 'processing']);
    await setup.store.database.run(removeType, [invalid.id]);
    await setup.store.database.run(makeDue, [cancellation.id]);
    await round();
    await untilOutcome(cancellation, 'applied');
    const reason = 'message: type: Invalid input: expected string, received undefined';
    expect(await setup.store.outcomeOf(invalid)).toMatchObject({ outcome: 'refused', reason });
    const deadLetters = await eventually(async () => {
      const taken = await takeDeadLetters();
      return taken.length > 0 ? taken : undefined;
    });
    expect(deadLetters).toEqual([reason]);
    expect(await deferredCount()).toBe(0);
  });

  it('are rejected at once when no later event could make them valid', async () => {
    const id = await placeOrder();
    await publish(cancelled(id));
    expect(await publish(shipped(id, 'A', atMinute(1)))).toMatchObject({
      reason: 'cannot ship an order that is cancelled',
    });
    expect(await publish(delivered(id, atMinute(4)))).toMatchObject({
      reason: 'cannot deliver an order that is cancelled',
    });
    expect(await takeDeadLetters()).toHaveLength(2);
    expect((await readOrder(id)).status).toBe('cancelled');
  });

  it('are deleted after they were rejected, 50 at a time', async () => {
    const id = await placeOrder();
    await setup.store.database.run(insertRejectedEvents, [uuidOf(id), 102]);
    for (const left of [52, 2, 0]) {
      expect(await round()).toBe(left > 0);
      expect(await deferredCount()).toBe(left);
    }
  });
});
