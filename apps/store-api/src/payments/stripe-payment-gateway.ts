import type { Clock } from '@fulfilment/runtime';
import { once } from 'node:events';
import Stripe from 'stripe';
import {
  type Charge,
  type ChargeOutcome,
  type ChargeRequest,
  type ChargeUnderWay,
  PaymentGateway,
} from './payment-gateway.js';

export interface StripeSettings {
  readonly secretKey: string;
  readonly apiUrl: URL;
  /** How long one request to Stripe may be silent. */
  readonly timeoutMs: number;
}

/**
 * Stripe forgets an idempotency key when it is 24 hours old at the earliest and would charge anew
 * (https://docs.stripe.com/api/idempotent_requests). An hour before, a charge is looked for before it is asked for.
 */
const keysAreKeptForMs = 23 * 3_600_000;

/**
 * Charges cards by Stripe's PaymentIntents, created and confirmed in one request while the creator is away
 * (https://docs.stripe.com/payments/save-and-reuse). Amounts are ISO minor units, as Stripe's: JPY has none.
 */
export class StripePaymentGateway extends PaymentGateway {
  private readonly stripe: Stripe;

  constructor(
    { secretKey, apiUrl, timeoutMs }: StripeSettings,
    private readonly clock: Clock,
  ) {
    super();
    this.stripe = new Stripe(secretKey, {
      protocol: apiUrl.protocol === 'http:' ? 'http' : 'https',
      host: apiUrl.hostname,
      port: apiUrl.port === '' ? (apiUrl.protocol === 'http:' ? 80 : 443) : apiUrl.port,
      timeout: timeoutMs,
      maxNetworkRetries: 0, // the completer asks again; a closed connection the library tries once more, under the same key
      telemetry: false,
    });
  }

  charge(request: ChargeRequest, signal: AbortSignal): Promise<ChargeOutcome | ChargeUnderWay> {
    return within(signal, () => this.chargeOnce(request));
  }

  refund(charge: Charge, signal: AbortSignal): Promise<void> {
    return within(signal, () => this.refundOnce(charge));
  }

  private async chargeOnce(request: ChargeRequest): Promise<ChargeOutcome | ChargeUnderWay> {
    if (request.reference !== null || this.keyMayBeForgotten(request)) {
      const known = await this.find(request);
      if (known !== undefined) return outcomeOf(request, known);
    }
    try {
      return outcomeOf(request, await this.create(request));
    } catch (error) {
      if (error instanceof Stripe.errors.StripeIdempotencyError) {
        // The key stands for a request we made in other words, as an earlier release may have done.
        const known = await this.find(request);
        if (known !== undefined) return outcomeOf(request, known);
      }
      const declined = declineOf(error);
      if (declined === undefined) throw error;
      return declined;
    }
  }

  private async create({ idempotencyKey, orderId, amount, paymentMethod }: ChargeRequest) {
    const customer = await this.customerOf(paymentMethod);
    return this.stripe.paymentIntents.create(
      {
        amount: amount.amount,
        currency: amount.currency.toLowerCase(),
        payment_method: paymentMethod,
        allowed_payment_method_types: ['card'],
        ...(customer === undefined ? {} : { customer }),
        confirm: true,
        off_session: true,
        metadata: { order_id: orderId, charge_id: idempotencyKey }, // ours only; nothing of a person
      },
      { idempotencyKey },
    );
  }

  /** Stripe wants the customer a saved payment method belongs to named beside it. Of one it does not know, the charge itself tells. */
  private async customerOf(paymentMethod: string): Promise<string | undefined> {
    try {
      const { customer } = await this.stripe.paymentMethods.retrieve(paymentMethod);
      return typeof customer === 'string' ? customer : customer?.id;
    } catch (error) {
      if (error instanceof Stripe.errors.StripeInvalidRequestError) return undefined;
      throw error;
    }
  }

  /** Searching sees a charge about a minute after it was made, which is soon enough for one whose key is a day old. */
  private async find({ idempotencyKey, reference }: Charge): Promise<Stripe.PaymentIntent | undefined> {
    if (reference !== null) return this.stripe.paymentIntents.retrieve(reference);
    const query = `metadata['charge_id']:'${idempotencyKey}'`;
    return (await this.stripe.paymentIntents.search({ query, limit: 1 })).data[0];
  }

  private keyMayBeForgotten({ since }: ChargeRequest): boolean {
    return this.clock().getTime() - since.getTime() > keysAreKeptForMs;
  }

  private async refundOnce(charge: Charge): Promise<void> {
    const reference = charge.reference ?? (await this.find(charge))?.id;
    if (reference === undefined) throw new Error('Stripe knows no charge of this idempotency key.');
    try {
      const { status } = await this.stripe.refunds.create(
        { payment_intent: reference },
        { idempotencyKey: `${charge.idempotencyKey}:refund` },
      );
      if (status === 'failed' || status === 'canceled') throw new Error(`Stripe's refund is ${status}.`);
    } catch (error) {
      const alreadyDone =
        error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'charge_already_refunded';
      if (!alreadyDone) throw error;
    }
  }
}

/** @throws when the PaymentIntent is of another amount */
function outcomeOf({ amount }: ChargeRequest, intent: Stripe.PaymentIntent): ChargeOutcome | ChargeUnderWay {
  if (intent.amount !== amount.amount || intent.currency !== amount.currency.toLowerCase())
    throw new Error('This idempotency key was used for another charge.');
  const reference = intent.id;
  switch (intent.status) {
    case 'succeeded':
      return { status: 'succeeded', at: new Date(intent.created * 1000), reference };
    case 'requires_payment_method':
    case 'requires_action': // the creator is not there to act
    case 'canceled':
      return { status: 'declined', reason: reasonOf(intent.last_payment_error) ?? intent.status, reference };
    default:
      return { status: 'under_way', reference };
  }
}

/** What Stripe refused for good, with nothing charged; undefined when it may be otherwise another time, or is not known. */
function declineOf(error: unknown): ChargeOutcome | undefined {
  if (!(error instanceof Stripe.errors.StripeError)) return undefined;
  const refused = error instanceof Stripe.errors.StripeInvalidRequestError && error.statusCode === 400;
  if (!refused && !(error instanceof Stripe.errors.StripeCardError)) return undefined;
  const reference = error.payment_intent?.id ?? null;
  return { status: 'declined', reason: reasonOf(error) ?? 'refused', reference };
}

/** The bank's word if there is one, else Stripe's. The library makes a missing one the empty text. */
function reasonOf(
  error: { readonly decline_code?: string; readonly code?: string } | null,
): string | undefined {
  return error?.decline_code || error?.code;
}

/** The library cannot be told to give up by a signal; its own timeout begins anew with each byte. */
async function within<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  signal.throwIfAborted();
  const ended = new AbortController();
  const tooLate = once(signal, 'abort', { signal: ended.signal }).then(() => {
    throw new Error('Stripe did not answer in time.');
  });
  try {
    return await Promise.race([work(), tooLate]);
  } finally {
    ended.abort();
  }
}
