import { maxAmount, uuidv7 } from '@fulfilment/contracts';
import { statement } from '@fulfilment/database';
import { type ScratchDatabase, scratchDatabase } from '@fulfilment/database/testing';
import { migrations } from '../migrations/index.js';
import { FaultPoints } from '../fault-points.js';
import type { Charge, OpenCharge, PaymentGateway } from './payment-gateway.js';
import { SandboxPaymentGateway } from './sandbox-payment-gateway.js';
import { StripePaymentGateway } from './stripe/stripe-payment-gateway.js';
import { StripeKeys } from './stripe/stripe-keys.js';
import { fakeStripeKey, fakeStripe } from './stripe/fake-stripe.fixture.js';

interface LedgerEntry {
  readonly amount: number;
  readonly currency: string;
  readonly succeeded: boolean;
  readonly refunds: number;
}

/** A provider and its stored charges. */
interface Provider {
  readonly gateway: PaymentGateway;
  readonly good: string;
  readonly declined: { readonly method: string; readonly reason: string };
  readonly largestAmount: 'succeeded' | 'declined';
  /** A payment method whose next charge succeeds without a response. */
  late(): string;
  ledger(): Promise<LedgerEntry[]>;
  stop(): Promise<void>;
}

const sandboxLedger = statement(
  'test.sandbox-ledger',
  `SELECT amount, currency, outcome = 'succeeded' AS succeeded, (refunded_at IS NOT NULL)::int AS refunds FROM sandbox_charges`,
);
const emptySandbox = statement('test.empty-sandbox', 'DELETE FROM sandbox_charges');

function sandbox(stores: ScratchDatabase): Provider {
  return {
    gateway: new SandboxPaymentGateway(stores.database),
    good: 'pm_ok',
    declined: { method: 'pm_declined', reason: 'card_declined' },
    largestAmount: 'succeeded',
    late: () => 'pm_timeout',
    ledger: () => stores.database.rows<LedgerEntry>(sandboxLedger),
    stop: () => stores.database.run(emptySandbox).then(() => undefined),
  };
}

async function stripe({ database }: ScratchDatabase): Promise<Provider> {
  const stripe = await fakeStripe();
  const settings = { secretKey: fakeStripeKey, apiUrl: new URL(stripe.url), timeoutMs: 5_000 };
  return {
    gateway: new StripePaymentGateway(settings, new StripeKeys(database), new FaultPoints(undefined)),
    good: 'pm_card_visa',
    declined: { method: 'pm_card_insufficientFunds', reason: 'insufficient_funds' },
    largestAmount: 'declined',
    late: () => {
      stripe.fail('/v1/payment_intents', 'silent');
      return 'pm_card_visa';
    },
    ledger: () =>
      Promise.resolve(
        stripe.intents().map(({ id, amount, currency, status }) => ({
          amount,
          currency: currency.toUpperCase(),
          succeeded: status === 'succeeded',
          refunds: stripe.refunds.filter((refund) => refund.payment_intent === id).length,
        })),
      ),
    stop: () => stripe.stop(),
  };
}

/** The contract of every provider. */
describe.each([
  ['sandbox', sandbox],
  ['Stripe', stripe],
])('the payment gateway of %s', (_, open) => {
  let stores: ScratchDatabase;
  let provider: Provider;
  beforeAll(async () => {
    stores = await scratchDatabase(migrations);
  });
  afterAll(() => stores.drop());
  beforeEach(async () => {
    provider = await open(stores);
  });
  afterEach(() => provider.stop());

  const request = (given: Partial<OpenCharge> = {}): OpenCharge => ({
    id: uuidv7(),
    orderId: uuidv7(),
    amount: { amount: 5398, currency: 'GBP' },
    paymentMethod: provider.good,
    reference: null,
    createdAt: new Date(),
    isFirstRequest: false,
    isTest: false,
    ...given,
  });
  const charge = (what: OpenCharge, ttlMs = 5_000) =>
    provider.gateway.charge(what, AbortSignal.timeout(ttlMs));
  const refund = (what: Charge) =>
    provider.gateway.refund({ ...what, refundReference: null }, AbortSignal.timeout(5_000));
  const charged = async (what = request()): Promise<Charge> => ({
    id: what.id,
    reference: (await charge(what)).reference,
    isTest: false,
  });
  const entry = { amount: 5398, currency: 'GBP', succeeded: true, refunds: 0 };

  it('charges once per key, and returns the same outcome to repeated requests', async () => {
    const what = request();
    const first = await charge(what);
    expect(first).toMatchObject({ status: 'succeeded', chargedAt: expect.any(Date) });
    expect(await charge(what)).toEqual(first);
    expect(await provider.ledger()).toEqual([entry]);
  });

  it('charges once for concurrent requests with one key', async () => {
    const what = request();
    await Promise.allSettled(Array.from({ length: 10 }, () => charge(what)));
    expect(await charge(what)).toMatchObject({ status: 'succeeded' });
    expect(await provider.ledger()).toEqual([entry]);
  });

  it('charges separately for each key', async () => {
    await charge(request());
    await charge(request());
    expect(await provider.ledger()).toEqual([entry, entry]);
  });

  it('declines with a reason, which stays the same for the key', async () => {
    const what = request({ paymentMethod: provider.declined.method });
    const outcome = { status: 'declined', reason: provider.declined.reason };
    expect(await charge(what)).toMatchObject(outcome);
    expect(await charge(what)).toMatchObject(outcome);
    expect(await provider.ledger()).toEqual([{ ...entry, succeeded: false }]);
  });

  it('fails in time without a response, and returns the outcome to a retry', async () => {
    const what = request({ paymentMethod: provider.late() });
    await expect(charge(what, 200)).rejects.toThrow();
    expect(await charge(what)).toMatchObject({ status: 'succeeded' });
    expect(await provider.ledger()).toEqual([entry]);
  });

  it.each([
    { amount: 5399, currency: 'GBP' as const },
    { amount: 5398, currency: 'USD' as const },
  ])('rejects a key that was used for another charge (%j)', async (amount) => {
    const what = request();
    await charge(what);
    await expect(charge({ ...what, amount })).rejects.toThrow(/another charge/);
    expect(await provider.ledger()).toEqual([entry]);
  });

  it('charges yen without minor units', async () => {
    await charge(request({ amount: { amount: 4800, currency: 'JPY' } }));
    expect(await provider.ledger()).toEqual([{ ...entry, amount: 4800, currency: 'JPY' }]);
  });

  it('charges the largest amount exactly, or declines it and charges nothing', async () => {
    const amount = { amount: maxAmount, currency: 'JPY' } as const;
    expect(await charge(request({ amount }))).toMatchObject({ status: provider.largestAmount });
    const isCharged = provider.largestAmount === 'succeeded';
    expect(await provider.ledger()).toEqual(isCharged ? [{ ...entry, ...amount }] : []);
  });

  it('finds the successful payment of a charge, and none of a declined or unknown one', async () => {
    const find = (what: Charge) => provider.gateway.find(what, AbortSignal.timeout(5_000));
    const paid = await charged();
    const payment = { reference: paid.reference, chargeId: paid.id, refunded: false };
    expect([await find(paid), await find({ ...paid, reference: null })]).toEqual([payment, payment]);
    expect(await find(await charged(request({ paymentMethod: provider.declined.method })))).toBeUndefined();
    expect(await find({ id: uuidv7(), reference: null, isTest: false })).toBeUndefined();
  });

  it('refunds once for repeated requests', async () => {
    const what = await charged();
    const first = await refund(what);
    expect(first).toMatchObject({ status: 'refunded' });
    expect(await refund(what)).toEqual(first);
    expect(await Promise.all([refund(what), refund(what)])).toEqual([first, first]);
    expect(await provider.ledger()).toEqual([{ ...entry, refunds: 1 }]);
  });

  it('rejects the refund of an unknown or declined charge', async () => {
    const declined = await charged(request({ paymentMethod: provider.declined.method }));
    await expect(refund(declined)).rejects.toThrow();
    await expect(refund({ id: uuidv7(), reference: null, isTest: false })).rejects.toThrow();
    expect(await provider.ledger()).toEqual([{ ...entry, succeeded: false }]);
  });
});
