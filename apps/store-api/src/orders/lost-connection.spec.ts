import { statement } from '@fulfilment/database';
import { eventually, type FlakyProxy, flakyProxy } from '@fulfilment/testing';
import { orderBody, type StoreApiUnderTest, startStoreApi } from '../store-api.fixture.js';
import { type OrderDesk, orderDesk } from './order-desk.fixture.js';

const readBusyConnections = statement(
  'test.busy-connections',
  "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'proxied' AND state <> 'idle'",
);

/** More packets than placing an order sends. */
const packets = Array.from({ length: 12 }, (_, index) => index + 1);

describe('placing an order whose connection to PostgreSQL is lost', () => {
  let store: StoreApiUnderTest;
  let desk: OrderDesk;
  let proxy: FlakyProxy;

  beforeAll(async () => {
    store = await startStoreApi({}, async (url) => (proxy = await flakyProxy(url)));
    desk = orderDesk(store);
  });
  afterAll(() => store.stop());

  /** PostgreSQL executes the statements that it received before the connection was lost. */
  const untilStatementsEnded = () =>
    eventually(async () => (await store.database.row(readBusyConnections)) === undefined);

  describe.each([
    ['a limited edition without a key', 100, undefined],
    ['an unlimited product with a key', null, 'key'],
    ['an unlimited product without a key', null, undefined],
  ])('of %s', (_, quantity, idempotencyKey) => {
    it.each(packets)(
      'after %i packets returns 201 exactly when there is an order, which is charged once',
      async (count) => {
        const creator = await store.creator();
        const { sku } = await store.release(creator.id, [{ quantity }]);
        const body = orderBody(sku, await store.quote(creator.token));
        proxy.severAfter(count);
        const response = await desk.place(creator, body, idempotencyKey);
        expect([201, 503]).toContain(response.status);
        await untilStatementsEnded();
        const orders = response.status === 201 ? 1 : 0;
        expect(await desk.orders(creator)).toBe(orders);
        proxy.severAfter(Infinity);
        await desk.complete(creator);
        const charges = await desk.providerCharges(creator);
        expect(charges.filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(orders);
        expect(await desk.stock(creator)).toEqual([quantity === null ? null : quantity - orders]);
      },
    );
  });
});
