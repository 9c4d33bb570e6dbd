import { uuidv7 } from '@fulfilment/contracts';
import type { ChargeRequest, RefundRequest } from '../payment-gateway.js';
import { StripePaymentGateway } from './stripe-payment-gateway.js';
import { fakeStripeKey, fakeStripe } from './fake-stripe.fixture.js';

export const intentsPath = '/v1/payment_intents';
export const refundsPath = '/v1/refunds';
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

/** The Stripe gateway with a fake Stripe. */
export async function stripeGateway() {
  const stripe = await fakeStripe();
  const open = (secretKey: string) =>
    new StripePaymentGateway({ secretKey, apiUrl: new URL(stripe.url), timeoutMs: 2_000 });
  const gateway = open(fakeStripeKey);
  const charge = (what: ChargeRequest, by = gateway) => by.charge(what, AbortSignal.timeout(2_000));
  return {
    api: stripe,
    gateway,
    open,
    charge,
    request: (given: Partial<ChargeRequest> = {}): ChargeRequest => ({
      idempotencyKey: uuidv7(),
      orderId: 'ord_00000000000000000000000001',
      amount: { amount: 2999, currency: 'GBP' },
      paymentMethod: 'pm_card_visa',
      reference: null,
      since: new Date(),
      ageMs: 0,
      keyNumber: 1,
      keyUnusableForMs: null,
      lookupCustomer: null,
      ...given,
    }),
    /** Charges, and returns the id of the PaymentIntent. */
    charged: async (what: ChargeRequest): Promise<string | null> => {
      const outcome = await charge(what);
      return 'reference' in outcome ? outcome.reference : null;
    },
    refund: (idempotencyKey: string, reference: string | null, given: Partial<RefundRequest> = {}) =>
      gateway.refund(
        { idempotencyKey, reference, refundReference: null, refundKeyNumber: 1, ...given },
        AbortSignal.timeout(2_000),
      ),
    /** The requests to the path. */
    requestsTo: (path: string) => stripe.requests.filter((sent) => sent.path === path),
  };
}

export type StripeGatewayUnderTest = Awaited<ReturnType<typeof stripeGateway>>;
