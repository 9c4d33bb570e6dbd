import { nilUuid } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { blocksRead, executedPlan } from '@fulfilment/database/testing';
import { createLogger, metrics } from '@fulfilment/runtime';
import { jest } from '@jest/globals';
import { type StripeOrders, stripeOrders } from '../stripe-orders.fixture.js';
import { orderBody } from '../../test/store-api.fixture.js';
import { DailyReconciliation } from './daily-reconciliation.js';
import { PaymentGateway, type TimeRange } from '../../payments/payment-gateway.js';
import { readRefunded, readSettledAsPaid, reconcilePayments } from './reconcile-payments.js';

const deleteCharge = statement('test.delete-charge', 'DELETE FROM charges WHERE id = $1');
const decline = statement('test.decline', "UPDATE charges SET status = 'declined' WHERE id = $1");
const markRefunded = statement(
  'test.refunded',
  "UPDATE charges SET status = 'refunded', refund_reference = $2 WHERE id = $1",
);
const copyRefunded = statement(
  'test.copy-refunded',
  `INSERT INTO charges (id, order_id, attempt, amount, currency, payment_method, status, refund_reference)
   SELECT gen_random_uuid(), order_id, n, amount, currency, payment_method, 'refunded', 're_' || n
   FROM charges, generate_series(2, $2::int) AS n WHERE id = $1`,
);
/** Copies a charge. The copies were settled a second apart, the last one now. */
const copySettled = statement(
  'test.copy-settled',
  `INSERT INTO charges (id, order_id, attempt, amount, currency, payment_method, status, settled_at)
   SELECT lpad(to_hex(n), 32, '0')::uuid, order_id, n + 1, amount, currency, payment_method, 'succeeded',
          now() - ($2::int - n) * interval '1 second'
   FROM charges, generate_series(1, $2::int) AS n WHERE id = $1`,
);
const analyse = statement('test.analyse', 'ANALYZE charges');
const deleteSandboxCharges = statement('test.delete-sandbox-charges', 'DELETE FROM sandbox_charges');
const finishedDays = statement(
  'test.finished-days',
  'SELECT day::text, findings FROM payment_reconciliations WHERE finished_at IS NOT NULL ORDER BY day',
);

/** Moves the failed day two weeks into the past, where it is due although it is older than seven days. */
const makeOlder = statement(
  'test.make-older',
  'UPDATE payment_reconciliations SET day = day - 14, lease_until = now() WHERE finished_at IS NULL',
);
const failedDays = statement(
  'test.failed-days',
  'SELECT day FROM payment_reconciliations WHERE finished_at IS NULL',
);

const readLease = statement(
  'test.read-lease',
  'SELECT lease_until > now() AS "isHeld" FROM payment_reconciliations WHERE finished_at IS NULL',
);
const endLease = statement(
  'test.end-lease',
  'UPDATE payment_reconciliations SET lease_until = now() WHERE finished_at IS NULL',
);

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/**
 * Returns the number of due days after `payment_reconciled_until_seconds`. Days are due an hour after they
 * end.
 */
async function unreconciledDays(): Promise<number> {
  const [, seconds] = /^payment_reconciled_until_seconds (\d+)$/m.exec(await metrics.metrics()) ?? [];
  const endOfLastDueDay = Math.floor((Date.now() - hourMs) / dayMs); // in days since 1970
  return endOfLastDueDay - (Number(seconds) * 1000) / dayMs;
}

async function unknownPaymentCount(): Promise<number> {
  const counter = /^payment_reconciliation_findings_total\{kind="unknown_payment"\} (\d+)$/m;
  return Number(counter.exec(await metrics.metrics())?.[1]);
}

describe('the reconciliation with Stripe', () => {
  let orders: StripeOrders;
  beforeEach(async () => {
    orders = await stripeOrders();
  });
  afterEach(() => orders.stop());

  const placePaid = async () => {
    const { creator } = await orders.place('pm_card_visa');
    const [charge] = await orders.helpers.charges(creator);
    if (charge === undefined) throw new Error('The order has no charge.');
    return { id: charge.id, reference: charge.reference ?? '' };
  };
  const onlyIntent = () => {
    const [intent] = orders.stripe.intents();
    if (intent === undefined) throw new Error('Nothing was charged.');
    return intent;
  };
  const failNextList = () => {
    const error = { type: 'api_error', message: 'Unavailable.' };
    orders.stripe.fail('/v1/payment_intents', { status: 500, error });
  };
  const reconcile = (range = { from: new Date(Date.now() - hourMs), to: new Date(Date.now() + hourMs) }) =>
    reconcilePayments({
      database: orders.store.database,
      gateway: orders.store.app.get(PaymentGateway),
      range,
      signal: AbortSignal.timeout(100_000),
    });

  it('finds no difference when each payment has its charge, over several pages', async () => {
    for (let index = 0; index < 11; index += 1) await placePaid(); // the fake has pages of 10
    expect(await reconcile()).toEqual({ payments: 11, charges: 11, findings: [] });
  });

  it('finds a payment whose charge is missing or declined here', async () => {
    const [lost, declined] = [await placePaid(), await placePaid()];
    await orders.store.database.run(deleteCharge, [lost.id]);
    await orders.store.database.run(decline, [declined.id]);
    const { findings } = await reconcile();
    expect(findings).toHaveLength(2);
    for (const { id, reference } of [lost, declined])
      expect(findings).toContainEqual({ kind: 'unknown_payment', reference, chargeId: id });
  });

  it('finds a second payment of one charge', async () => {
    const charge = await placePaid();
    const intent = onlyIntent();
    orders.stripe.add({ ...intent, id: 'pi_second' });
    expect((await reconcile()).findings).toEqual([
      { kind: 'unknown_payment', reference: 'pi_second', chargeId: charge.id },
    ]);
  });

  it('ignores payments of other software on the account', async () => {
    await placePaid();
    const intent = onlyIntent();
    orders.stripe.add({ ...intent, id: 'pi_other', metadata: {} });
    orders.stripe.add({ ...intent, id: 'pi_strange', metadata: { charge_id: 'not ours' } });
    expect(await reconcile()).toMatchObject({ payments: 1, findings: [] });
  });

  it('finds a charge that is paid here and unknown to Stripe', async () => {
    const charge = await placePaid();
    orders.stripe.remove(charge.reference);
    expect((await reconcile()).findings).toEqual([
      { kind: 'missing_payment', reference: charge.reference, chargeId: charge.id },
    ]);
  });

  it('finds a refund that failed after it had succeeded', async () => {
    const charge = await placePaid();
    orders.stripe.refunds.push({
      id: 're_late',
      object: 'refund',
      payment_intent: onlyIntent().id,
      status: 'failed',
    });
    await orders.store.database.run(markRefunded, [charge.id, 're_late']);
    expect((await reconcile()).findings).toEqual([
      { kind: 'failed_refund', reference: 're_late', chargeId: charge.id },
    ]);
  });

  it('finds the charges of failed refunds by an index, whatever the number of charges', async () => {
    const { database } = orders.store;
    await database.run(copyRefunded, [(await placePaid()).id, 20_000]);
    for (const isAnalysed of [false, true]) {
      if (isAnalysed) await database.run(analyse);
      const nodes = await executedPlan(database, readRefunded, [['re_7', 're_8', 're_of_other_software']]);
      expect(nodes.map((node) => node['Index Name'])).toContain('charges_refund_reference');
      expect(blocksRead(nodes[0])).toBeLessThan(20); // a scan of all charges reads hundreds
    }
  });

  it('reads settled charges in pages by an index, whatever the number of earlier and later charges', async () => {
    const { database, app } = orders.store;
    const charge = await placePaid();
    await database.run(copySettled, [charge.id, 20_000]);
    await database.run(analyse);
    const now = Date.now();
    const [from, to] = [new Date(now - 10_000_000), new Date(now - 1_000_000)];
    const [root] = await executedPlan(database, readSettledAsPaid, [from, nilUuid, to]);
    expect(root?.['Actual Rows']).toBe(500);
    expect(blocksRead(root)).toBeLessThan(50); // in the order of the ids, it would read hundreds
    const payment = { reference: null, chargeId: charge.id, refunded: false };
    jest.spyOn(app.get(PaymentGateway), 'find').mockResolvedValue(payment);
    expect(await reconcile({ from, to })).toEqual({ payments: 0, charges: 9_000, findings: [] });
  });

  it('leaves out test orders, which move no money', async () => {
    const creator = await orders.store.creator('pm_ok', { test: true });
    const { sku } = await orders.store.release(creator.id);
    const body = orderBody(sku, await orders.store.quote(creator.token));
    expect((await orders.helpers.place(creator, body)).body.status).toBe('processing');
    await orders.store.database.run(deleteSandboxCharges);
    expect(await reconcile()).toEqual({ payments: 0, charges: 0, findings: [] });
  });

  it('runs once for each of the last seven days, even in concurrent rounds', async () => {
    const reconciliation = orders.store.app.get(DailyReconciliation);
    const rounds = await Promise.all(Array.from({ length: 3 }, () => reconciliation.round()));
    expect(rounds).toContain(true);
    while (await reconciliation.round());
    const done = await orders.store.database.rows<{ day: string; findings: number }>(finishedDays);
    expect(done).toHaveLength(7);
    expect(new Set(done.map(({ day }) => day)).size).toBe(7);
    expect(orders.stripe.requests.filter(({ path }) => path === '/v1/payment_intents')).toHaveLength(7 * 24);
  });

  it('reads a day hour by hour, and renews its lease after each hour, so that no other replica repeats the day', async () => {
    const { database, app } = orders.store;
    const gateway = app.get(PaymentGateway);
    const ranges: TimeRange[] = [];
    const leases: boolean[] = [];
    jest.spyOn(gateway, 'listPayments').mockImplementation(async function* (range) {
      ranges.push(range);
      const [lease] = await database.rows<{ isHeld: boolean }>(readLease);
      leases.push(lease?.isHeld === true);
      await database.run(endLease);
      yield [];
    });
    expect(await app.get(DailyReconciliation).round()).toBe(true);
    expect(ranges.map(({ from, to }) => to.getTime() - from.getTime())).toEqual(Array(24).fill(hourMs));
    expect(ranges.slice(1).map(({ from }) => from)).toEqual(ranges.slice(0, -1).map(({ to }) => to));
    expect(leases).toEqual(Array(24).fill(true));
  });

  it('of a day is retried later when Stripe responds with 500, even if the day is two weeks ago', async () => {
    const reconciliation = orders.store.app.get(DailyReconciliation);
    failNextList();
    expect(await reconciliation.round()).toBe(true); // another day may be due
    expect(await orders.store.database.rows(finishedDays)).toEqual([]);
    while (await reconciliation.round());
    expect(await orders.store.database.rows(finishedDays)).toHaveLength(6);
    expect(await unreconciledDays()).toBe(7); // counted from the oldest day, the only one that failed
    await orders.store.database.run(makeOlder);
    while (await reconciliation.round());
    expect(await orders.store.database.rows(failedDays)).toEqual([]);
    expect(await unreconciledDays()).toBe(0);
  });

  it('logs and counts each difference of a day', async () => {
    const { database, app } = orders.store;
    const charge = await placePaid();
    const twoDaysAgo = Math.floor((Date.now() - 2 * dayMs) / 1000); // due at any time of today
    orders.stripe.add({ ...onlyIntent(), id: 'pi_second', created: twoDaysAgo });
    const lines: string[] = [];
    const logger = createLogger('test', 'error', { write: (line) => lines.push(line) });
    const reconciliation = new DailyReconciliation(database, app.get(PaymentGateway), logger);
    const countBefore = await unknownPaymentCount();
    while (await reconciliation.round());
    expect(await unknownPaymentCount()).toBe(countBefore + 1);
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      {
        message: 'A payment differs from that of the payment provider.',
        kind: 'unknown_payment',
        reference: 'pi_second',
        charge_id: charge.id,
        day: new Date(twoDaysAgo * 1000).toISOString().slice(0, 10),
      },
    ]);
    const days = await database.rows<{ findings: number }>(finishedDays);
    expect(days.map(({ findings }) => findings).filter((findings) => findings > 0)).toEqual([1]);
  });

  it('logs why a day could not be reconciled, even when the database fails after that', async () => {
    const { database, app } = orders.store;
    const lines: string[] = [];
    const logger = createLogger('test', 'error', { write: (line) => lines.push(line) });
    failNextList();
    const run = jest.spyOn(database, 'run').mockRejectedValue(new Error('The database is down.'));
    const reconciliation = new DailyReconciliation(database, app.get(PaymentGateway), logger);
    await expect(reconciliation.round()).rejects.toThrow('The database is down.');
    run.mockRestore();
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      {
        message: 'The payments of a day could not be reconciled; will retry.',
        error: { message: expect.stringContaining('Unavailable.') },
      },
    ]);
  });
});
