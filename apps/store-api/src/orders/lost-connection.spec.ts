import { statement } from '@fulfilment/database';
import { eventually, type FlakyProxy, flakyProxy } from '@fulfilment/testing';
import { orderBody, type StoreApiUnderTest, startStoreApi, type TestCreator } from '../store-api.fixture.js';
import { type OrderDesk, orderDesk } from './order-desk.fixture.js';

const working = statement(
  'test.working-over-line',
  "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'proxied' AND state <> 'idle'",
);

/** More packets than placing an order sends. */
const packets = Array.from({ length: 12 }, (_, index) => index + 1);

describe('placing an order whose connection to PostgreSQL is lost', () => {
  let store: StoreApiUnderTest;
  let desk: OrderDesk;
  let line: FlakyProxy;
  let creator: TestCreator;
  let body: object;

  beforeAll(async () => {
    store = await startStoreApi({}, async (url) => (line = await flakyProxy(url)));
    desk = orderDesk(store);
  });
  beforeEach(async () => {
    creator = await store.creator();
    const [sku = ''] = (await store.release(creator.id, [{ quantity: 100 }])).skus;
    body = orderBody(sku, await store.quote(creator.token));
  });
  afterAll(() => store.stop());

  /** PostgreSQL executes what it received before the connection was lost. */
  const workEnded = () =>
    eventually(async () => ((await store.database.row(working)) === undefined ? true : undefined));

  it.each(packets)(
    'after %i packets returns 201 exactly when there is an order, which is charged once',
    async (count) => {
      line.severAfter(count);
      const response = await desk.place(creator, body);
      expect([201, 503]).toContain(response.status);
      await workEnded();
      expect(await desk.orders(creator)).toBe(response.status === 201 ? 1 : 0);
      line.severAfter(Infinity);
      await desk.complete(creator);
      const ledger = await desk.ledger(creator);
      expect(ledger.filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(
        response.status === 201 ? 1 : 0,
      );
      expect(await desk.stock(creator)).toEqual([response.status === 201 ? 99 : 100]);
    },
  );
});
