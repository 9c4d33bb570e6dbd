import { type Message, messages, publicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { randomUUID } from 'node:crypto';
import { atMinute, delivered, setUpOrders, shipped, permutations } from './fulfilment.fixture.js';
import { withoutRepetitions } from '../test/store-api.fixture.js';

const newestOrder = statement(
  'test.newest-order',
  'SELECT id::text AS id, version, updated_at, delivered_at FROM orders ORDER BY created_at DESC LIMIT 1',
);

describe('an order in several packages', () => {
  const setup = setUpOrders();
  const { placeOrder, readOrder } = setup;

  const newestRow = async () => {
    type Row = { id: string; version: number; updated_at: Date; delivered_at: Date | null };
    const row = await setup.store.database.row<Row>(newestOrder);
    if (row === undefined) throw new Error('No order was placed.');
    return row;
  };
  const publishInSequence = async (...events: Message[]) => {
    for (const event of events) await setup.store.publishAndWait(event);
  };
  const packagesOf = async (id: string) =>
    (await readOrder(id)).tracking.packages.map(
      (parcel: { tracking_number: string; delivered_at: string | null }) =>
        `${parcel.tracking_number} ${parcel.delivered_at?.slice(11, 16) ?? 'under way'}`,
    );
  const trackingTimes = (id: string): unknown[] =>
    withoutRepetitions(setup.store.broker.published).flatMap((message) =>
      messages.orderTrackingUpdated.is(message) && publicId('ord', message.data.order.id) === id
        ? [message.data.order.tracking?.updated_at]
        : [],
    );
  const eventsOf = (uuid: string) =>
    withoutRepetitions(setup.store.broker.published)
      .filter(({ type, data }) => type.startsWith('order.') && JSON.stringify(data).includes(uuid))
      .map(({ type }) => type);

  it('shows a package that is handed over after the others arrived, and stays delivered', async () => {
    const id = await placeOrder();
    await publishInSequence(shipped(id, 'A', atMinute(1)), delivered(id, atMinute(2), 'A'));
    expect((await readOrder(id)).status).toBe('delivered');
    await publishInSequence(shipped(id, 'B', atMinute(3)));
    expect(await readOrder(id)).toMatchObject({ status: 'delivered', tracking: { tracking_number: 'B' } });
    expect(await packagesOf(id)).toEqual(['A 09:02', 'B under way']);
    await publishInSequence(delivered(id, atMinute(4), 'B'));
    expect(await packagesOf(id)).toEqual(['A 09:02', 'B 09:04']);
    const order = await newestRow();
    expect(order.delivered_at).toEqual(atMinute(4).occurredAt);
    const expected = [
      'order.created',
      'order.processing',
      'order.shipped',
      'order.delivered',
      'order.tracking_updated', // B was shipped
      'order.tracking_updated', // B arrived
    ];
    expect(
      await eventually(() =>
        eventsOf(order.id).length === expected.length ? eventsOf(order.id) : undefined,
      ),
    ).toEqual(expected);
  });

  it('publishes a newer tracking time when a package arrives after the order was delivered', async () => {
    const id = await placeOrder();
    await publishInSequence(
      shipped(id, 'A', atMinute(1)),
      delivered(id, atMinute(2), 'A'),
      shipped(id, 'B', atMinute(3)),
    );
    const afterShipment = (await readOrder(id)).tracking.updated_at;
    await publishInSequence(delivered(id, atMinute(4), 'B'));
    const afterArrival = (await readOrder(id)).tracking.updated_at;
    expect(Date.parse(afterArrival)).toBeGreaterThan(Date.parse(afterShipment));
    await eventually(() => trackingTimes(id).length === 2);
    expect(trackingTimes(id).toSorted()).toEqual([afterShipment, afterArrival]);
  });

  it('is delivered at the time of the last arrival, in any order of events', async () => {
    for (const order of permutations([0, 1, 2, 3])) {
      const id = await placeOrder();
      const events = [
        shipped(id, 'A', atMinute(1)),
        delivered(id, atMinute(2), 'A'),
        shipped(id, 'B', atMinute(3)),
        delivered(id, atMinute(4), 'B'),
      ];
      await publishInSequence(...order.flatMap((index) => events[index] ?? []));
      const { status } = await readOrder(id);
      expect({
        order,
        status,
        deliveredAt: (await newestRow()).delivered_at,
        packages: await packagesOf(id),
      }).toEqual({
        order,
        status: 'delivered',
        deliveredAt: atMinute(4).occurredAt,
        packages: ['A 09:02', 'B 09:04'],
      });
    }
  });

  it('is delivered now when the stated arrival is in the future, so that the retention of its address begins', async () => {
    const id = await placeOrder();
    const arrival = messages.fulfilmentDelivered.make(
      { order_id: id, delivered_at: '9999-12-31T23:59:59.9999999Z' },
      atMinute(2),
    );
    await setup.store.publishAndWait(shipped(id, 'A', atMinute(1)));
    expect(await setup.store.publishAndWait(arrival)).toEqual(['applied']);
    const { delivered_at: deliveredAt, updated_at: updatedAt } = await newestRow();
    expect(Math.abs(Number(deliveredAt) - Number(updatedAt))).toBeLessThan(60_000);
  });

  it('does not change when an arrival is repeated', async () => {
    const id = await placeOrder();
    const arrived = delivered(id, atMinute(3), 'A');
    await publishInSequence(shipped(id, 'A', atMinute(1)), shipped(id, 'B', atMinute(2)), arrived);
    const before = await newestRow();
    await publishInSequence({ ...arrived, id: randomUUID() }, delivered(id, atMinute(5), 'A'));
    expect(await newestRow()).toEqual(before);
  });
});
