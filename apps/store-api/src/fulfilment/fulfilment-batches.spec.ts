/** Tests that fulfilment events which share a transaction have the same effects as one after another. */
import { type Message, messages, parsePublicId, shardOf, topologyOf } from '@fulfilment/contracts';
import { type OpenTransaction, statement } from '@fulfilment/database';
import { eventually, publishedMessages } from '@fulfilment/testing';
import { FulfilmentConsumer } from './fulfilment.consumer.js';
import { orderBody, type StoreApiUnderTest, startStoreApi, type TestCreator } from '../store-api.fixture.js';

const lockOrders = statement(
  'test.lock-orders',
  'SELECT id FROM orders WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE',
);
const lockProduct = statement('test.lock-product', 'SELECT id FROM products WHERE id = $1 FOR UPDATE');
const lockWaits = statement(
  'test.lock-waits',
  `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
);
const transactionsOf = statement(
  'test.transactions',
  'SELECT count(DISTINCT xmin::text) AS count FROM orders WHERE id = ANY ($1::uuid[])',
);

describe('fulfilment events in one batch', () => {
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

  const placed = async (count: number): Promise<[string, ...string[]]> => {
    const place = async (): Promise<string> =>
      (await store.post('/store/v1/orders', creator.token, orderBody(sku, rate))).body.id;
    const ids: [string, ...string[]] = [await place()];
    while (ids.length < count) ids.push(await place());
    return ids;
  };
  const uuidOf = (id: string): string => parsePublicId('ord', id) ?? '';
  const read = async (id: string) => (await store.get(`/store/v1/orders/${id}`, creator.token)).body;
  const minute = (number: number) => ({ occurredAt: new Date(Date.UTC(2026, 0, 1, 9, number)) });
  const ship = (order_id: string, tracking_number = 'A', at = 1) => {
    const tracking_url = `https://track.example/${tracking_number}`;
    const parcel = { order_id, carrier: 'Royal Mail', tracking_number, tracking_url };
    return messages.fulfilmentShipped.make(parcel, minute(at));
  };
  const deliver = (order_id: string, at = 9) => messages.fulfilmentDelivered.make({ order_id }, minute(at));
  const count = (counted: string, quantity: number, at = 1) =>
    messages.fulfilmentStockSet.make({ sku: counted, quantity }, minute(at));
  const adjust = (adjusted: string, delta: number, at = 5) =>
    messages.fulfilmentStockAdjusted.make({ sku: adjusted, delta }, minute(at));
  const outcomeOf = async (message: Message) => {
    const { outcome, reason } = await store.outcomeOf(message);
    return reason ?? outcome;
  };
  /**
   * Publishes the first events while their rows are locked, so that they use all transactions of their lane.
   * Then publishes the others, which are therefore in the consumers' hands together. Returns the outcomes of
   * the others.
   */
  const publishTogether = async (
    lock: (held: OpenTransaction) => Promise<unknown>,
    first: readonly Message[],
    ...others: Message[]
  ): Promise<string[]> => {
    const held = await store.database.begin();
    await lock(held);
    await store.broker.publish(...first);
    await eventually(async () => (await store.database.rows(lockWaits)).length >= first.length);
    await store.broker.publish(...others);
    await held.commit();
    return Promise.all(others.map(outcomeOf));
  };
  const shardOfOrder = (id: string): string => {
    const sharded = topologyOf(store.broker.namespace).sharded('store-api.fulfilment');
    return sharded === undefined ? '' : shardOf(sharded, Buffer.from(JSON.stringify(ship(id))));
  };
  const shipTogether = async (...events: Message[]) => {
    const [one] = await placed(1);
    let [other] = await placed(1);
    while (shardOfOrder(other) === shardOfOrder(one)) [other] = await placed(1);
    const lock = ({ tx }: OpenTransaction) => tx.rows(lockOrders, [[one, other].map(uuidOf)]);
    return publishTogether(lock, [ship(one), ship(other)], ...events);
  };
  const versionsOf = (id: string) =>
    store.broker.published
      .filter(({ type, data }) => type.startsWith('order.') && JSON.stringify(data).includes(uuidOf(id)))
      .map(({ type, data }) => `${type} ${/"version":(\d+)/.exec(JSON.stringify(data))?.[1] ?? ''}`);

  it('share transactions, and a rejected one is the only one that is not applied', async () => {
    const ids = await placed(30);
    const unknown = 'ord_00000000000000000000000000';
    expect(await shipTogether(...ids.map((id) => ship(id)))).toEqual(ids.map(() => 'applied'));
    const found = await store.database.row<{ count: number }>(transactionsOf, [ids.map(uuidOf)]);
    expect(found?.count).toBeLessThan(20);

    const events = [...ids.slice(0, 15), unknown, ...ids.slice(15)].map((id) => deliver(id));
    expect(await shipTogether(...events)).toEqual(
      events.map((_, index) => (index === 15 ? `order ${unknown} does not exist` : 'applied')),
    );
    for (const id of ids) expect((await read(id)).status).toBe('delivered');
    expect(await store.broker.takeDeadLetters('store-api.fulfilment')).toEqual([
      `order ${unknown} does not exist`,
    ]);
  });

  it('are applied in sequence if they are about one order, each with its own message', async () => {
    const [id, other] = await placed(2);
    const events = [ship(id, 'A', 1), ship(id, 'B', 2), ship(other ?? ''), deliver(id)];
    expect(await shipTogether(...events)).toEqual(events.map(() => 'applied'));
    expect((await read(id)).tracking.packages).toHaveLength(2);
    await eventually(() => versionsOf(id).length === 5);
    expect(versionsOf(id)).toEqual([
      'order.created 1',
      'order.processing 2',
      'order.shipped 3',
      'order.tracking_updated 4',
      'order.delivered 5',
    ]);
  });

  it('enable a deferred one of the same batch', async () => {
    const [id] = await placed(1);
    const delivered = deliver(id);
    await shipTogether(delivered, ship(id));
    await eventually(async () => (await outcomeOf(delivered)) === 'applied');
    expect((await read(id)).status).toBe('delivered');
  });

  it('apply a cancellation after the shipment before it', async () => {
    const [id, other] = await placed(2);
    const cancelled = (order_id: string) =>
      messages.fulfilmentCancelled.make({ order_id, reason: 'pressing fault' }, minute(1));
    expect(await shipTogether(ship(id), cancelled(id), cancelled(other ?? ''), ship(other ?? ''))).toEqual([
      'applied',
      'cannot cancel an order that is shipped',
      'applied',
      'cannot ship an order that is cancelled',
    ]);
    await store.broker.takeDeadLetters('store-api.fulfilment');
  });

  it('set the stock of several products, also of one that was not counted before', async () => {
    const products = [{ quantity: 5 }, { quantity: 5 }, {}, { quantity: 5 }];
    const { id, skus } = await store.release(creator.id, products);
    const [blocked = '', one = '', uncounted = '', two = ''] = skus;
    const outcomes = await publishTogether(
      ({ tx }) => tx.row(lockProduct, [parsePublicId('prod', blocked) ?? '']),
      [count(blocked, 1)],
      count(one, 10, 1),
      count(two, 20, 2),
      adjust(one, -3),
      count(uncounted, 7),
      count(two, 30, 1), // older
      adjust(one, 4, 1), // included in the count
      adjust(two, 1),
    );
    expect(outcomes).toEqual(outcomes.map(() => 'applied'));
    const { body } = await store.get(`/store/v1/releases/${id}`, creator.token);
    const quantities = body.products.map((product: { id: string; availability: { quantity: number } }) => [
      product.id,
      product.availability.quantity,
    ]);
    expect(new Map(quantities)).toEqual(
      new Map([
        [blocked, 1],
        [one, 7],
        [uncounted, 7],
        [two, 21],
      ]),
    );
  });

  it.each(publishedMessages('store-api.fulfilment').map((message) => [message.type, message] as const))(
    'accept %s as earlier releases published it',
    async (type, message) => {
      const status = {
        'catalogue.release_approved': 'pending',
        'fulfilment.product_released': 'unavailable',
      };
      const own = await store.release(creator.id, [
        { status: Reflect.get(status, type) ?? 'available', quantity: type.includes('stock') ? 10 : null },
      ]);
      const subjects = { order_id: (await placed(1))[0], sku: own.skus[0], release_id: own.id };
      const data = new Map(Object.entries(Object(message.data)));
      for (const [name, id] of Object.entries(subjects)) if (data.has(name)) data.set(name, id);
      const aboutThem = { ...message, data: Object.fromEntries(data) };
      await store.database.transaction((tx) => store.app.get(FulfilmentConsumer).handle(tx, [aboutThem]));
    },
  );
});
