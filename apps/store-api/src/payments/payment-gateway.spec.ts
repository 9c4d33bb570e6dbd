import { maxAmount, uuidv7 } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import { eventually } from '@fulfilment/testing';
import { setUpDatabase } from '../test/scratch.fixture.js';
import { newCharge as newChargeOf, timeoutMs } from './open-charge.fixture.js';
import type { Charge, OpenCharge, PaymentGateway } from './payment-gateway.js';
import { SandboxPaymentGateway } from './sandbox-payment-gateway.js';
import { stripeGateway } from './stripe/stripe-gateway.fixture.js';

interface StoredCharge {
  readonly amount: number;
  readonly currency: string;
  readonly succeeded: boolean;
  readonly refunds: number;
}

/** A provider and its stored charges. */
interface Provider {
  readonly gateway: PaymentGateway;
  /** A payment method whose charges succeed. */
  readonly validMethod: string;
  readonly declined: { readonly method: string; readonly reason: string };
  /** Outcome of a charge of the largest amount of an order. */
  readonly largestAmount: 'succeeded' | 'declined';
  /** A payment method whose next charge succeeds without a response. */
  methodWithoutResponse(): string;
  charges(): Promise<StoredCharge[]>;
  stop(): Promise<void>;
}

const readSandboxCharges = statement(
  'test.sandbox-charges',
  `SELECT amount, currency, outcome = 'succeeded' AS succeeded, (refunded_at IS NOT NULL)::int AS refunds FROM sandbox_charges`,
);
const emptySandbox = statement('test.empty-sandbox', 'DELETE FROM sandbox_charges');

function sandbox(database: Database): Provider {
  return {
    gateway: new SandboxPaymentGateway(database),
    validMethod: 'pm_ok',
    declined: { method: 'pm_declined', reason: 'card_declined' },
    largestAmount: 'succeeded',
    methodWithoutResponse: () => 'pm_timeout',
    charges: () => database.rows<StoredCharge>(readSandboxCharges),
    stop: () => database.run(emptySandbox).then(() => undefined),
  };
}

async function stripe(database: Database): Promise<Provider> {
  const { api, gateway } = await stripeGateway(database);
  return {
    gateway,
    validMethod: 'pm_card_visa',
    declined: { method: 'pm_card_insufficientFunds', reason: 'insufficient_funds' },
    largestAmount: 'declined',
    methodWithoutResponse: () => {
      api.fail('/v1/payment_intents', 'silent');
      return 'pm_card_visa';
    },
    charges: () =>
      Promise.resolve(
        api.intents().map(({ id, amount, currency, status }) => ({
          amount,
          currency: currency.toUpperCase(),
          succeeded: status === 'succeeded',
          refunds: api.refunds.filter((refund) => refund.payment_intent === id).length,
        })),
      ),
    stop: () => api.stop(),
  };
}

/** Tests the contract of every provider. */
describe.each([
  ['the sandbox', sandbox],
  ['Stripe', stripe],
])('the payment gateway of %s', (_, open) => {
  const scratch = setUpDatabase();
  let provider: Provider;
  beforeEach(async () => {
    provider = await open(scratch.database);
  });
  afterEach(() => provider.stop());

  const newCharge = (given: Partial<OpenCharge> = {}) =>
    newChargeOf({ amount: { amount: 5398, currency: 'GBP' }, paymentMethod: provider.validMethod, ...given });
  const charge = (openCharge: OpenCharge, signal = AbortSignal.timeout(timeoutMs)) =>
    provider.gateway.charge(openCharge, signal);
  const refund = (charge: Charge) =>
    provider.gateway.refund({ ...charge, refundReference: null }, AbortSignal.timeout(timeoutMs));
  /** Sends a charge, whatever its outcome. Returns it as refunds and lookups need it. */
  const sentCharge = async (openCharge = newCharge()): Promise<Charge> => ({
    id: openCharge.id,
    reference: (await charge(openCharge)).reference,
    isTest: false,
  });
  const storedCharge = { amount: 5398, currency: 'GBP', succeeded: true, refunds: 0 };

  it('charges once per charge id, and returns the same outcome to repeated requests', async () => {
    const openCharge = newCharge();
    const first = await charge(openCharge);
    expect(first).toMatchObject({ status: 'succeeded', chargedAt: expect.any(Date) });
    expect(await charge(openCharge)).toEqual(first);
    expect(await provider.charges()).toEqual([storedCharge]);
  });

  it('charges once for concurrent requests with one charge id', async () => {
    const openCharge = newCharge();
    await Promise.allSettled(Array.from({ length: 10 }, () => charge(openCharge)));
    expect(await charge(openCharge)).toMatchObject({ status: 'succeeded' });
    expect(await provider.charges()).toEqual([storedCharge]);
  });

  it('charges separately for each charge id', async () => {
    await charge(newCharge());
    await charge(newCharge());
    expect(await provider.charges()).toEqual([storedCharge, storedCharge]);
  });

  it('declines with a reason, which stays the same for the charge id', async () => {
    const openCharge = newCharge({ paymentMethod: provider.declined.method });
    const outcome = { status: 'declined', reason: provider.declined.reason };
    expect(await charge(openCharge)).toMatchObject(outcome);
    expect(await charge(openCharge)).toMatchObject(outcome);
    expect(await provider.charges()).toEqual([{ ...storedCharge, succeeded: false }]);
  });

  it('fails at the timeout without a response, and returns the outcome to a retry', async () => {
    const openCharge = newCharge({ paymentMethod: provider.methodWithoutResponse() });
    await expect(charge(openCharge, AbortSignal.timeout(200))).rejects.toThrow();
    // The provider may charge after the timeout.
    await eventually(async () => (await provider.charges()).length === 1);
    expect(await charge(openCharge)).toMatchObject({ status: 'succeeded' });
    expect(await provider.charges()).toEqual([storedCharge]);
  });

  it.each([
    { amount: 5399, currency: 'GBP' as const },
    { amount: 5398, currency: 'USD' as const },
  ])('rejects a charge id that was used for another charge (%j)', async (amount) => {
    const openCharge = newCharge();
    await charge(openCharge);
    await expect(charge({ ...openCharge, amount })).rejects.toThrow(/another charge/);
    expect(await provider.charges()).toEqual([storedCharge]);
  });

  it('charges yen without minor units', async () => {
    await charge(newCharge({ amount: { amount: 4800, currency: 'JPY' } }));
    expect(await provider.charges()).toEqual([{ ...storedCharge, amount: 4800, currency: 'JPY' }]);
  });

  it('charges the largest amount exactly, or declines it and charges nothing', async () => {
    const amount = { amount: maxAmount, currency: 'JPY' } as const;
    expect(await charge(newCharge({ amount }))).toMatchObject({ status: provider.largestAmount });
    const isCharged = provider.largestAmount === 'succeeded';
    expect(await provider.charges()).toEqual(isCharged ? [{ ...storedCharge, ...amount }] : []);
  });

  it('finds the successful payment of a charge, and none of a declined or unknown one', async () => {
    const find = (charge: Charge) => provider.gateway.find(charge, AbortSignal.timeout(timeoutMs));
    const paid = await sentCharge();
    const payment = { reference: paid.reference, chargeId: paid.id, refunded: false };
    expect([await find(paid), await find({ ...paid, reference: null })]).toEqual([payment, payment]);
    expect(
      await find(await sentCharge(newCharge({ paymentMethod: provider.declined.method }))),
    ).toBeUndefined();
    expect(await find({ id: uuidv7(), reference: null, isTest: false })).toBeUndefined();
  });

  it('refunds once for repeated requests', async () => {
    const paid = await sentCharge();
    const first = await refund(paid);
    expect(first).toMatchObject({ status: 'refunded' });
    expect(await refund(paid)).toEqual(first);
    expect(await Promise.all([refund(paid), refund(paid)])).toEqual([first, first]);
    expect(await provider.charges()).toEqual([{ ...storedCharge, refunds: 1 }]);
  });

  it('rejects the refund of an unknown or declined charge', async () => {
    const declined = await sentCharge(newCharge({ paymentMethod: provider.declined.method }));
    await expect(refund(declined)).rejects.toThrow();
    await expect(refund({ id: uuidv7(), reference: null, isTest: false })).rejects.toThrow();
    expect(await provider.charges()).toEqual([{ ...storedCharge, succeeded: false }]);
  });
});
