import { type Message, messages, publicId } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { randomUUID } from 'node:crypto';
import { permutations } from './permutations.fixture.js';
import { orderBody, type StoreApiUnderTest, startStoreApi, type TestCreator } from '../store-api.fixture.js';

const newestOrder = statement(
  'test.newest-order',
  'SELECT id::text AS id, version, updated_at, delivered_at FROM orders ORDER BY created_at DESC LIMIT 1',
);
describe('an order in several packages', () => {
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
  const row = () =>
    store.database.row<{ id: string; version: number; updated_at: Date; delivered_at: Date | null }>(
      newestOrder,
    );
  const report = async (...reports: Message[]) => {
    for (const message of reports) await store.publishAndWait(message);
  };
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 9, minute));
  const parcel = (order_id: string, tracking_number: string) => ({
    order_id,
    carrier: 'Royal Mail',
    tracking_number,
    tracking_url: `https://track.example/${tracking_number}`,
  });
  const ship = (id: string, number: string, minute: number) =>
    messages.fulfilmentShipped.make(parcel(id, number), { occurredAt: at(minute) });
  const correct = (id: string, number: string, minute: number, replaces_tracking_number?: string) =>
    messages.fulfilmentTrackingCorrected.make(
      { ...parcel(id, number), replaces_tracking_number },
      { occurredAt: at(minute) },
    );
  const deliver = (order_id: string, tracking_number: string, minute: number) =>
    messages.fulfilmentDelivered.make({ order_id, tracking_number }, { occurredAt: at(minute) });
  const packagesOf = async (id: string) =>
    (await read(id)).tracking.packages.map(
      (one: { tracking_number: string; delivered_at: string | null }) =>
        `${one.tracking_number} ${one.delivered_at?.slice(11, 16) ?? 'under way'}`,
    );
  const trackingTimes = (id: string): unknown[] =>
    store.broker.published.flatMap((message) =>
      messages.orderTrackingUpdated.is(message) && publicId('ord', message.data.order.id) === id
        ? [message.data.order.tracking?.updated_at]
        : [],
    );
  const eventsOf = (uuid: string | undefined) =>
    store.broker.published
      .filter(({ type, data }) => type.startsWith('order.') && JSON.stringify(data).includes(uuid ?? '?'))
      .map(({ type }) => type);

  it('shows the package handed over last, with its own corrections, in any order of arrival', async () => {
    for (const order of permutations([0, 1, 2])) {
      const id = await placed();
      const story = [ship(id, 'A', 1), ship(id, 'B', 2), correct(id, 'B2', 3)];
      await report(...order.flatMap((index) => story[index] ?? []));
      const { tracking } = await read(id);
      expect({ order, newest: tracking.tracking_number, packages: await packagesOf(id) }).toEqual({
        order,
        newest: 'B2',
        packages: ['A under way', 'B2 under way'],
      });
    }
  });

  it('shows a package that is handed over after the others arrived, and stays delivered', async () => {
    const id = await placed();
    await report(ship(id, 'A', 1), deliver(id, 'A', 2));
    expect((await read(id)).status).toBe('delivered');
    await report(ship(id, 'B', 3));
    expect(await read(id)).toMatchObject({ status: 'delivered', tracking: { tracking_number: 'B' } });
    expect(await packagesOf(id)).toEqual(['A 09:02', 'B under way']);
    await report(deliver(id, 'B', 4));
    expect(await packagesOf(id)).toEqual(['A 09:02', 'B 09:04']);
    const order = await row();
    expect(order?.delivered_at).toEqual(at(4));
    const expected = [
      'order.created',
      'order.processing',
      'order.shipped',
      'order.delivered',
      'order.tracking_updated', // B left
      'order.tracking_updated', // B arrived
    ];
    expect(
      await eventually(() =>
        eventsOf(order?.id).length === expected.length ? eventsOf(order?.id) : undefined,
      ),
    ).toEqual(expected);
  });

  it('publishes a newer tracking time when a package arrives after the order was delivered', async () => {
    const id = await placed();
    await report(ship(id, 'A', 1), deliver(id, 'A', 2), ship(id, 'B', 3));
    const left = (await read(id)).tracking.updated_at;
    await report(deliver(id, 'B', 4));
    const arrived = (await read(id)).tracking.updated_at;
    expect(Date.parse(arrived)).toBeGreaterThan(Date.parse(left));
    await eventually(() => trackingTimes(id).length === 2);
    expect(trackingTimes(id).toSorted()).toEqual([left, arrived]);
  });

  it('is delivered at the time of the last arrival, in any order of events', async () => {
    for (const order of permutations([0, 1, 2, 3])) {
      const id = await placed();
      const story = [ship(id, 'A', 1), deliver(id, 'A', 2), ship(id, 'B', 3), deliver(id, 'B', 4)];
      await report(...order.flatMap((index) => story[index] ?? []));
      const { status } = await read(id);
      expect({ order, status, at: (await row())?.delivered_at, packages: await packagesOf(id) }).toEqual({
        order,
        status: 'delivered',
        at: at(4),
        packages: ['A 09:02', 'B 09:04'],
      });
    }
  });

  it('does not change when an arrival is repeated', async () => {
    const id = await placed();
    const arrived = deliver(id, 'A', 3);
    await report(ship(id, 'A', 1), ship(id, 'B', 2), arrived);
    const before = await row();
    await report({ ...arrived, id: randomUUID() }, deliver(id, 'A', 5));
    expect(await row()).toEqual(before);
  });
});
