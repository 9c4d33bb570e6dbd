import { type Message, messages, parsePublicId, shardOf, topologyOf } from '@fulfilment/contracts';
import { untilLockWaits } from '@fulfilment/database/testing';
import { statement, type Transaction } from '@fulfilment/database';
import { eventually, publishedMessages } from '@fulfilment/testing';
import { FulfilmentConsumer } from './fulfilment.consumer.js';
import { atMinute, cancelled, delivered, setUpOrders, shipped } from './fulfilment.fixture.js';
import { withoutRepetitions } from '../test/store-api.fixture.js';

const lockOrders = statement(
  'test.lock-orders',
  'SELECT id FROM orders WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE',
);
const lockProduct = statement('test.lock-product', 'SELECT id FROM products WHERE id = $1 FOR UPDATE');
// `xmin` is the transaction that last wrote a row.
const transactionsOf = statement(
  'test.transactions',
  'SELECT count(DISTINCT xmin::text) AS count FROM orders WHERE id = ANY ($1::uuid[])',
);

/** Events that share a transaction have the same effects as events in separate transactions. */
describe('fulfilment events in one batch', () => {
  const setup = setUpOrders();
  const { placeOrder, readOrder } = setup;

  const placeOrders = async (count: number): Promise<string[]> => {
    const ids: string[] = [];
    while (ids.length < count) ids.push(await placeOrder());
    return ids;
  };
  const uuidOf = (id: string): string => parsePublicId('ord', id) ?? '';
  const counted = (sku: string, quantity: number, minute = 1) =>
    messages.fulfilmentStockSet.make({ sku, quantity }, atMinute(minute));
  const adjusted = (sku: string, delta: number, minute = 5) =>
    messages.fulfilmentStockAdjusted.make({ sku, delta }, atMinute(minute));
  const outcomeOf = async (message: Message) => {
    const { outcome, reason } = await setup.store.outcomeOf(message);
    return reason ?? outcome;
  };
  /**
   * Publishes the first events while their rows are locked, so that they use all transactions of their lane.
   * Then publishes the others, which therefore wait and are handled in batches. Returns the outcomes of the
   * others.
   */
  const publishInBatches = async (
    lockRows: (tx: Transaction) => Promise<unknown>,
    first: readonly Message[],
    ...others: Message[]
  ): Promise<string[]> => {
    const { database, broker } = setup.store;
    const locking = await database.begin();
    await lockRows(locking.tx);
    await broker.publish(...first);
    await untilLockWaits(database, { count: first.length });
    await broker.publish(...others);
    await locking.commit();
    return Promise.all(others.map(outcomeOf));
  };
  const shardOfOrder = (id: string): string => {
    const sharded = topologyOf(setup.store.broker.namespace).sharded('store-api.fulfilment');
    return sharded === undefined
      ? ''
      : shardOf(sharded, Buffer.from(JSON.stringify(shipped(id, 'A', atMinute(1)))));
  };
  /**
   * Publishes the events in batches. The first events are shipments of two orders in different shards, as two
   * events of one shard would not use two transactions.
   */
  const publishPackageEvents = async (...events: Message[]) => {
    const one = await placeOrder();
    let other = await placeOrder();
    while (shardOfOrder(other) === shardOfOrder(one)) other = await placeOrder();
    const first = [shipped(one, 'A', atMinute(1)), shipped(other, 'A', atMinute(1))];
    return publishInBatches((tx) => tx.rows(lockOrders, [[one, other].map(uuidOf)]), first, ...events);
  };
  const versionsOf = (id: string) =>
    withoutRepetitions(setup.store.broker.published)
      .filter(({ type, data }) => type.startsWith('order.') && JSON.stringify(data).includes(uuidOf(id)))
      .map(({ type, data }) => `${type} ${/"version":(\d+)/.exec(JSON.stringify(data))?.[1] ?? ''}`);

  it('share transactions, and are all applied except a rejected one', async () => {
    const ids = await placeOrders(30);
    const unknown = 'ord_00000000000000000000000000';
    expect(await publishPackageEvents(...ids.map((id) => shipped(id, 'A', atMinute(1))))).toEqual(
      ids.map(() => 'applied'),
    );
    const found = await setup.store.database.row<{ count: number }>(transactionsOf, [ids.map(uuidOf)]);
    expect(found?.count).toBeLessThan(ids.length);

    const events = [...ids.slice(0, 15), unknown, ...ids.slice(15)].map((id) => delivered(id, atMinute(9)));
    expect(await publishPackageEvents(...events)).toEqual(
      events.map((_, index) => (index === 15 ? `order ${unknown} does not exist` : 'applied')),
    );
    for (const id of ids) expect((await readOrder(id)).status).toBe('delivered');
    expect(await setup.store.broker.takeDeadLetters('store-api.fulfilment')).toEqual([
      `order ${unknown} does not exist`,
    ]);
  });

  it('are applied in sequence if they are about one order, each with its own message', async () => {
    const [id, other] = [await placeOrder(), await placeOrder()];
    const events = [
      shipped(id, 'A', atMinute(1)),
      shipped(id, 'B', atMinute(2)),
      shipped(other, 'A', atMinute(1)),
      delivered(id, atMinute(9)),
    ];
    expect(await publishPackageEvents(...events)).toEqual(events.map(() => 'applied'));
    expect((await readOrder(id)).tracking.packages).toHaveLength(2);
    await eventually(() => versionsOf(id).length === 5);
    expect(versionsOf(id)).toEqual([
      'order.created 1',
      'order.processing 2',
      'order.shipped 3',
      'order.tracking_updated 4',
      'order.delivered 5',
    ]);
  });

  it('include the deferred events that another event of the batch enables', async () => {
    const id = await placeOrder();
    const delivery = delivered(id, atMinute(9));
    await publishPackageEvents(delivery, shipped(id, 'A', atMinute(1)));
    await eventually(async () => (await outcomeOf(delivery)) === 'applied');
    expect((await readOrder(id)).status).toBe('delivered');
  });

  it('apply a cancellation and a shipment of one order in the order of their arrival', async () => {
    const [id, other] = [await placeOrder(), await placeOrder()];
    const events = [
      shipped(id, 'A', atMinute(1)),
      cancelled(id),
      cancelled(other),
      shipped(other, 'A', atMinute(1)),
    ];
    expect(await publishPackageEvents(...events)).toEqual([
      'applied',
      'cannot cancel an order that is shipped',
      'applied',
      'cannot ship an order that is cancelled',
    ]);
    await setup.store.broker.takeDeadLetters('store-api.fulfilment');
  });

  it('set the stock of several products, including one that was not counted before', async () => {
    const products = [{ quantity: 5 }, { quantity: 5 }, {}, { quantity: 5 }];
    const { id, skus } = await setup.store.release(setup.creator.id, products);
    const [blocked = '', one = '', uncounted = '', two = ''] = skus;
    const outcomes = await publishInBatches(
      (tx) => tx.row(lockProduct, [parsePublicId('prod', blocked) ?? '']),
      [counted(blocked, 1)],
      counted(one, 10, 1),
      counted(two, 20, 2),
      adjusted(one, -3),
      counted(uncounted, 7),
      counted(two, 30, 1), // older
      adjusted(one, 4, 1), // included in the count
      adjusted(two, 1),
    );
    expect(outcomes).toEqual(outcomes.map(() => 'applied'));
    const { body } = await setup.store.get(`/store/v1/releases/${id}`, setup.creator.token);
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
    'are accepted in the form in which earlier versions published them: %s',
    async (type, message) => {
      // The status of the product that a message changes; by default, `available`.
      const statusBefore = new Map([
        ['catalogue.release_approved', 'pending' as const],
        ['fulfilment.product_released', 'unavailable' as const],
      ]);
      const release = await setup.store.release(setup.creator.id, [
        { status: statusBefore.get(type) ?? 'available', quantity: type.includes('stock') ? 10 : null },
      ]);
      const subjects = { order_id: await placeOrder(), sku: release.sku, release_id: release.id };
      const data = new Map(Object.entries(Object(message.data)));
      for (const [name, id] of Object.entries(subjects)) if (data.has(name)) data.set(name, id);
      const messageAboutSubjects = { ...message, data: Object.fromEntries(data) };
      await setup.store.database.transaction((tx) =>
        setup.store.app.get(FulfilmentConsumer).handle(tx, [messageAboutSubjects]),
      );
    },
  );
});
