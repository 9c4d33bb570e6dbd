import { statement } from '@fulfilment/database';
import { Stock } from '../../catalogue/stock/stock.js';
import { type StoreApiUnderTest, startStoreApi, type Creator } from '../../test/store-api.fixture.js';
import { type OrderHelpers, orderHelpers } from '../../orders/order-helpers.fixture.js';
import { copyOrdersSql } from '../../orders/reading/copied-orders.fixture.js';
import { redactOrder } from '../../orders/maintenance/redact-orders.js';
import { RechargeOrder } from './recharge-order.js';
import { rechargeOptions, rechargeOrders } from './recharge-orders.js';

const setAllPaymentMethods = statement(
  'test.set-all-payment-methods',
  'UPDATE creators SET payment_method = $1',
);
const setFailureTime = statement(
  'test.set-failure-time',
  `UPDATE charges SET settled_at = $2 WHERE order_id IN (SELECT id FROM orders WHERE creator_id = $1)`,
);
const withdraw = statement(
  'test.withdraw',
  "UPDATE products SET status = 'unavailable' WHERE creator_id = $1",
);

const copyFailed = statement(
  'test.copy-failed',
  `WITH copies AS (${copyOrdersSql(`'status', 'payment_failed'`)} RETURNING id, external_order_id, charge_amount, currency)
   INSERT INTO charges (id, order_id, attempt, amount, currency, payment_method, status, settled_at)
   SELECT lpad(external_order_id, 32, '0')::uuid, id, 1, charge_amount, currency, 'pm_declined', 'declined', now()
   FROM copies`,
);
const declinePending = statement(
  'test.decline-pending',
  "UPDATE charges SET status = 'declined', settled_at = now() WHERE status = 'pending'",
);

/** Recharges orders that are declined at once, as if the completer were faster than the run. */
class DeclinedRecharge extends RechargeOrder {
  constructor(private readonly store: StoreApiUnderTest) {
    super(store.database, store.app.get(Stock));
  }

  override async run(order: string): Promise<void> {
    await super.run(order);
    await this.store.database.run(declinePending);
  }
}

describe('the options of a recharge', () => {
  it.each([{ since: '2026-01-02T00:00:00Z', until: '2026-01-03T00:00:00Z' }, { ORDER: 'ord_1' }])(
    '%j are accepted',
    (options) => {
      expect(rechargeOptions.safeParse(options).success).toBe(true);
    },
  );

  it.each([
    [{}, 'ORDER is missing'],
    [{ ORDER: 'ord_1', since: '2d' }, 'since cannot be combined with an ORDER'],
    [{ ORDER: 'ord_1', until: '2d' }, 'until needs --since'],
    [{ since: '2d', until: '2999-01-01T00:00:00Z' }, 'until must not be in the future'],
    [
      { since: '2026-01-03T00:00:00Z', until: '2026-01-02T00:00:00Z' },
      'since must be before --until, which is by default the current time',
    ],
    [{ since: '2999-01-01T00:00:00Z' }, 'since must be before --until, which is by default the current time'],
  ])('%j are rejected: %s', (options, problem) => {
    const [issue] = rechargeOptions.safeParse(options).error?.issues ?? [];
    expect(issue && `${issue.path.join()} ${issue.message}`).toBe(problem);
  });
});

const since = new Date('2026-01-02T00:00:00Z');
const until = new Date('2026-01-03T00:00:00Z');

describe('recharging the orders of a time range', () => {
  let store: StoreApiUnderTest;
  let helpers: OrderHelpers;

  beforeEach(async () => {
    store = await startStoreApi();
    helpers = orderHelpers(store);
  });
  afterEach(() => store.stop());

  /** Places an order whose payment failed at the given time. */
  const placeFailed = async (
    failedAt: string,
  ): Promise<{ creator: Creator; order: string; status: () => Promise<string> }> => {
    const prepared = await helpers.prepareOrder({ paymentMethod: 'pm_declined' });
    const { creator } = prepared;
    const { body } = await helpers.place(creator, prepared.body);
    await store.database.run(setFailureTime, [creator.id, new Date(failedAt)]);
    return {
      creator,
      order: body.id,
      status: async () => (await store.readOrder(creator, body.id)).status,
    };
  };
  const run = () =>
    rechargeOrders(store.database, new RechargeOrder(store.database, store.app.get(Stock)), { since, until });
  const range = { since: since.toISOString(), until: until.toISOString() };

  it('charges each order of the time range once in three runs, and no others', async () => {
    const within = [await placeFailed('2026-01-02T00:00:00Z'), await placeFailed('2026-01-02T23:59:59Z')];
    const outside = [await placeFailed('2026-01-01T23:59:59Z'), await placeFailed('2026-01-03T00:00:00Z')];
    await store.database.run(setAllPaymentMethods, ['pm_ok']);
    expect(await run()).toEqual({ ...range, begun: 2, skipped: {} });
    expect(await run()).toEqual({ ...range, begun: 0, skipped: {} });
    await store.resumeOrdersAndRefunds();
    expect(await run()).toEqual({ ...range, begun: 0, skipped: {} });
    expect(await Promise.all(within.map(({ status }) => status()))).toEqual(['processing', 'processing']);
    expect(await Promise.all(outside.map(({ status }) => status()))).toEqual([
      'payment_failed',
      'payment_failed',
    ]);
    for (const { creator } of within) expect(await helpers.charges(creator)).toHaveLength(2);
    for (const { creator } of outside) expect(await helpers.providerCharges(creator)).toHaveLength(1);
  });

  it('begins one recharge of each order, although it is declined again during the run and the clock is fast', async () => {
    const { creator } = await placeFailed('2026-01-01T00:00:00Z');
    const ids = { creator_id: creator.id, model_id: creator.id };
    await store.database.run(copyFailed, { ...ids, count: 501 }); // more than a page
    const times = { since, until: new Date(Date.now() + 20_000) };
    const recharged = await rechargeOrders(store.database, new DeclinedRecharge(store), times);
    expect(recharged).toMatchObject({ begun: 501, skipped: {} });
  });

  it('continues after an order that cannot be charged, and counts the reasons', async () => {
    const redacted = await placeFailed('2026-01-02T09:00:00Z');
    await redactOrder(store.database, redacted.order);
    const withdrawn = await placeFailed('2026-01-02T10:00:00Z');
    const sold = await placeFailed('2026-01-02T11:00:00Z');
    const unpaid = await placeFailed('2026-01-02T12:00:00Z');
    await store.database.run(setAllPaymentMethods, ['pm_ok']);
    await store.database.run(withdraw, [withdrawn.creator.id]);
    await helpers.setPaymentMethod(unpaid.creator, null);
    expect(await run()).toEqual({
      ...range,
      begun: 1,
      skipped: { address_redacted: 1, not_available: 1, payment_method_missing: 1 },
    });
    await store.resumeOrdersAndRefunds();
    expect([await withdrawn.status(), await sold.status(), await unpaid.status()]).toEqual([
      'payment_failed',
      'processing',
      'payment_failed',
    ]);
  });
});
