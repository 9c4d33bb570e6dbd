import { messages } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { executedPlan, blocksRead } from '@fulfilment/database/testing';
import { metrics } from '@fulfilment/runtime';
import { eventually } from '@fulfilment/testing';
import { startStoreApi, type StoreApiUnderTest } from '../../test/store-api.fixture.js';
import { orderHelpers } from '../order-helpers.fixture.js';
import { copyOrdersSql } from '../reading/copied-orders.fixture.js';
import { measure, measureOrders } from './measure-orders.js';

const gauge = async (name: string): Promise<number> =>
  Number((await metrics.getSingleMetric(name)?.get())?.values[0]?.value);
const makePending = statement(
  'test.pending',
  `UPDATE orders SET status = 'pending', resume_at = now(), created_at = now() - interval '20 minutes'`,
);
const makeRefundDue = statement(
  'test.refund-due',
  `WITH cancelled AS (UPDATE orders SET refunded_at = now() - interval '5 hours')
   UPDATE charges SET status = 'refund_due', settled_at = now() - interval '2 days'`,
);
const ageDeferredEvents = statement(
  'test.age',
  `UPDATE deferred_events SET deferred_at = now() - interval '2 hours'`,
);
const countDeferredEvents = statement('test.count', 'SELECT count(*) AS count FROM deferred_events');
const settledOrders = 20_000;
const copySettled = statement(
  'test.copy-settled',
  `WITH copies AS (${copyOrdersSql("'resume_at', NULL")} RETURNING id, charge_amount, currency)
   INSERT INTO charges (id, order_id, attempt, amount, currency, payment_method, status, settled_at)
   SELECT gen_random_uuid(), id, 1, charge_amount, currency, 'pm_ok', 'succeeded', now() FROM copies`,
);
const analyse = statement('test.analyse', 'ANALYZE orders, charges');
/** Enough for the indexes and the few rows; a scan of all orders reads hundreds of blocks. */
const maxBlocks = 40;

describe('the gauges of orders', () => {
  let store: StoreApiUnderTest;
  beforeAll(async () => {
    store = await startStoreApi();
  });
  afterAll(() => store.stop());

  it('report the oldest pending order, due refund and deferred event, and 0 without any', async () => {
    await measureOrders(store.database);
    for (const name of [
      'orders_pending_oldest_seconds',
      'refunds_owed',
      'refunds_owed_oldest_seconds',
      'deferred_reports',
      'deferred_reports_oldest_seconds',
    ])
      expect(await gauge(name)).toBe(0);

    const helpers = orderHelpers(store);
    const { creator, body } = await helpers.prepareOrder();
    const { id } = (await helpers.place(creator, body)).body;
    await store.broker.publish(
      messages.fulfilmentDelivered.make({ order_id: id }, { occurredAt: new Date() }),
    );
    await eventually(
      async () => (await store.database.row<{ count: number }>(countDeferredEvents))?.count === 1,
    );
    for (const change of [makePending, makeRefundDue, ageDeferredEvents]) await store.database.run(change);
    await measureOrders(store.database);
    expect(await gauge('orders_pending_oldest_seconds')).toBeGreaterThanOrEqual(20 * 60);
    expect(await gauge('refunds_owed')).toBe(1);
    const refundAge = await gauge('refunds_owed_oldest_seconds');
    expect(refundAge).toBeGreaterThanOrEqual(5 * 3_600);
    expect(refundAge).toBeLessThan(6 * 3_600); // since the cancellation, not since the charge
    expect(await gauge('deferred_reports')).toBe(1);
    expect(await gauge('deferred_reports_oldest_seconds')).toBeGreaterThanOrEqual(2 * 3_600);
  });

  it('are measured by indexes, whatever the number of settled orders', async () => {
    const helpers = orderHelpers(store);
    const { creator, body } = await helpers.prepareOrder();
    await helpers.place(creator, body);
    await store.database.run(copySettled, {
      creator_id: creator.id,
      model_id: creator.id,
      count: settledOrders,
    });
    for (const isAnalysed of [false, true]) {
      if (isAnalysed) await store.database.run(analyse);
      const nodes = await executedPlan(store.database, measure);
      const indexes = nodes.flatMap((node) => node['Index Name'] ?? []);
      expect(indexes).toEqual(
        expect.arrayContaining(['orders_to_resume_first', 'orders_to_resume_again', 'charges_refund_at']),
      );
      expect(blocksRead(nodes[0])).toBeLessThan(maxBlocks);
    }
  });
});
