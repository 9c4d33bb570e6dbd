import { type Database, statement } from '@fulfilment/database';
import { FaultPoints } from '../../fault-points.js';
import type { OpenCharge, RefundRequest } from '../payment-gateway.js';
import { timeoutMs } from '../open-charge.fixture.js';
import { fakeStripeKey, fakeStripe } from './fake-stripe.fixture.js';
import { StripeIdempotencyKeys } from './stripe-idempotency-keys.js';
import { StripePaymentGateway } from './stripe-payment-gateway.js';

export const intentsPath = '/v1/payment_intents';
export const refundsPath = '/v1/refunds';
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

const setKeyAge = statement(
  'test.set-key-age',
  `UPDATE stripe_keys SET unusable_since = now() - $2::int * interval '1 millisecond'
   WHERE charge_id = $1 AND unusable_since IS NOT NULL`,
);

/** Creates the Stripe gateway with a fake Stripe. */
export async function stripeGateway(database: Database) {
  const api = await fakeStripe();
  const keys = new StripeIdempotencyKeys(database);
  const open = (secretKey: string) =>
    new StripePaymentGateway(
      { secretKey, apiUrl: new URL(api.url), timeoutMs },
      keys,
      new FaultPoints(undefined),
    );
  const gateway = open(fakeStripeKey);
  const charge = (openCharge: OpenCharge, usedGateway = gateway) =>
    usedGateway.charge(openCharge, AbortSignal.timeout(timeoutMs));
  return {
    api,
    gateway,
    keys,
    open,
    charge,
    /** Charges, and returns the id of the PaymentIntent. */
    intentOf: async (openCharge: OpenCharge): Promise<string | null> => (await charge(openCharge)).reference,
    refund: (id: string, reference: string | null, given: Partial<RefundRequest> = {}) =>
      gateway.refund(
        { id, reference, isTest: false, refundReference: null, ...given },
        AbortSignal.timeout(timeoutMs),
      ),
    /** Sets the time since the key of the charge was found to be unusable. */
    ageKey: (id: string, ms: number) => database.run(setKeyAge, [id, ms]),
    /** The requests to the path. */
    requestsTo: (path: string) => api.requests.filter((request) => request.path === path),
  };
}

export type StripeGatewayUnderTest = Awaited<ReturnType<typeof stripeGateway>>;
