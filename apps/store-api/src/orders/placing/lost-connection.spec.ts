import { statement } from '@fulfilment/database';
import { eventually, type FlakyProxy, flakyProxy } from '@fulfilment/testing';
import { type StoreApiUnderTest, startStoreApi } from '../../test/store-api.fixture.js';
import { type OrderHelpers, orderHelpers } from '../order-helpers.fixture.js';

const readBusyConnections = statement(
  'test.busy-connections',
  "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'proxied' AND state <> 'idle'",
);

/** More packets than placing an order sends: the connection is lost after each of its packets. */
const packetCounts = Array.from({ length: 12 }, (_, index) => index + 1);

describe('POST /v1/orders whose connection to PostgreSQL is lost', () => {
  let store: StoreApiUnderTest;
  let helpers: OrderHelpers;
  let proxy: FlakyProxy;

  beforeAll(async () => {
    store = await startStoreApi({}, async (url) => (proxy = await flakyProxy(url)));
    helpers = orderHelpers(store);
  });
  afterAll(() => store.stop());

  /** PostgreSQL executes the statements that it received before the connection was lost. */
  const untilStatementsEnded = () =>
    eventually(async () => (await store.database.row(readBusyConnections)) === undefined);

  describe.each([
    ['a limited edition without a key', 100, undefined, 0],
    ['an unlimited product with a key', null, 'key', 0],
    ['an unlimited product without a key', null, undefined, 0],
    ['an unlimited product, while PostgreSQL rejects the next connections', null, undefined, 3],
  ])('for %s', (_, stock, idempotencyKey, rejected) => {
    it.each(packetCounts)(
      'after %i packets: returns 201 exactly when there is an order, which is charged once',
      async (count) => {
        const { creator, body } = await helpers.prepareOrder({ stock });
        proxy.severAfter(count);
        proxy.rejectNext(rejected);
        const response = await helpers.place(creator, body, idempotencyKey);
        if (count === 1) expect(proxy.wasSevered()).toBe(true);
        expect([201, 503]).toContain(response.status);
        await untilStatementsEnded();
        const orders = response.status === 201 ? 1 : 0;
        expect(await helpers.orderCount(creator)).toBe(orders);
        proxy.restore();
        await helpers.runCompleter(creator);
        const charges = await helpers.providerCharges(creator);
        expect(charges.filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(orders);
        expect(await helpers.stock(creator)).toEqual([stock === null ? null : stock - orders]);
      },
    );
  });
});
