import Stripe from 'stripe';
import {
  type Charge,
  type ChargeOutcome,
  type ChargeRequest,
  type ChargeUnderWay,
  type FailedRefund,
  type UnusableKey,
  type NotCharged,
  PaymentGateway,
  type ProviderPayment,
  type RefundOutcome,
  type RefundRequest,
  type TimeRange,
} from '../payment-gateway.js';
import { StripeChargeLookup } from './stripe-charge-lookup.js';
import {
  classifyStripeError,
  isMissing,
  paymentError,
  unusablePaymentMethod,
} from './stripe-errors.rules.js';
import { StripeLedger } from './stripe-ledger.js';
import { StripeMode } from './stripe-mode.js';
import {
  declineOf,
  isUntried,
  outcomeOf,
  refundOutcomeOf,
  isAlreadyRefunded,
  isUnusableKeyError,
} from './stripe-outcome.rules.js';
import { untilAborted } from './until-aborted.js';

export interface StripeSettings {
  readonly secretKey: string;
  readonly apiUrl: URL;
  /** Timeout without data from Stripe. */
  readonly timeoutMs: number;
}

/**
 * Stripe may delete an idempotency key after 24 hours and would then charge a second time
 * (https://docs.stripe.com/api/idempotent_requests). From an hour before, a charge is looked up before it is
 * sent.
 */
const keyRetentionMs = 23 * 3_600_000;

/**
 * After a 500, Stripe rolls the request forward or back
 * (https://docs.stripe.com/error-low-level#server-errors). The lookup for an unusable key waits this long,
 * and no other key is used before.
 */
const recoveryTimeMs = 60_000;

/** Includes the charge of a PaymentIntent, not only its id. */
const expand = ['latest_charge'];

/**
 * Charges cards with Stripe's PaymentIntents, created and confirmed in one request while the creator is
 * absent (https://docs.stripe.com/payments/save-and-reuse). Amounts are ISO minor units, as Stripe's: JPY has
 * none.
 */
export class StripePaymentGateway extends PaymentGateway {
  private readonly stripe: Stripe;
  private readonly lookup: StripeChargeLookup;
  private readonly ledger: StripeLedger;
  private readonly mode: StripeMode;
  /**
   * Whether Stripe has found a creator's payment method under our key. A key belongs to one account and one
   * mode for ever, so from then on a missing payment method is its creator's problem, and no sign of a wrong
   * key.
   */
  private hasFoundPaymentMethod = false;

  constructor({ secretKey, apiUrl, timeoutMs }: StripeSettings) {
    super();
    this.stripe = new Stripe(secretKey, {
      protocol: apiUrl.protocol === 'http:' ? 'http' : 'https',
      host: apiUrl.hostname,
      port: apiUrl.port === '' ? (apiUrl.protocol === 'http:' ? 80 : 443) : apiUrl.port,
      timeout: timeoutMs,
      // The completer retries. After a closed connection the library retries once under the same key.
      maxNetworkRetries: 0,
      telemetry: false,
    });
    this.lookup = new StripeChargeLookup(this.stripe);
    this.ledger = new StripeLedger(this.stripe, this.lookup);
    this.mode = new StripeMode(this.stripe, secretKey);
  }

  /** Checks that the key's mode is Stripe's. @throws PaymentProviderRejected when they differ */
  async checkKey(): Promise<void> {
    try {
      await this.mode.check();
    } catch (error) {
      throw paymentError(error);
    }
  }

  charge(
    request: ChargeRequest,
    signal: AbortSignal,
  ): Promise<ChargeOutcome | ChargeUnderWay | UnusableKey | NotCharged> {
    return untilAborted(signal, async () => {
      try {
        await this.mode.check();
        return await this.chargeOnce(request, signal);
      } catch (error) {
        throw paymentError(error);
      }
    });
  }

  refund(request: RefundRequest, signal: AbortSignal): Promise<RefundOutcome> {
    return untilAborted(signal, async () => {
      await this.mode.check();
      return this.refundOnce(request);
    });
  }

  listPayments(range: TimeRange, signal: AbortSignal): AsyncIterable<readonly ProviderPayment[]> {
    return this.ledger.payments(range, signal);
  }

  hasPayment(charge: Charge, signal: AbortSignal): Promise<boolean> {
    return untilAborted(signal, () => this.ledger.has(charge));
  }

  listFailedRefunds(range: TimeRange, signal: AbortSignal): AsyncIterable<readonly FailedRefund[]> {
    return this.ledger.failedRefunds(range, signal);
  }

  private async chargeOnce(
    request: ChargeRequest,
    signal: AbortSignal,
  ): Promise<ChargeOutcome | ChargeUnderWay | UnusableKey | NotCharged> {
    const { reference, ageMs, keyUnusableForMs, lookupCustomer } = request;
    if (reference !== null)
      return this.resume(request, await this.stripe.paymentIntents.retrieve(reference, { expand }));
    if (keyUnusableForMs !== null) {
      const stillUnusable = { status: 'key_spent', customer: lookupCustomer } as const;
      if (keyUnusableForMs < recoveryTimeMs) return stillUnusable;
      const found = await this.lookup.find(request, signal);
      if (found === 'unsure') return stillUnusable;
      return found === undefined ? { status: 'nothing_charged' } : this.resume(request, found);
    }
    if (ageMs > keyRetentionMs) {
      const found = await this.lookup.search(request);
      if (found !== undefined) return this.resume(request, found);
    }
    return this.start(request);
  }

  private async start(request: ChargeRequest): Promise<ChargeOutcome | ChargeUnderWay | UnusableKey> {
    const customer = await this.customerOf(request.paymentMethod);
    const payment = { methodHasCustomer: customer !== undefined };
    try {
      return outcomeOf(request, await this.create(request, customer));
    } catch (error) {
      // Stripe repeats a response for an identical request only, so the customer was the same.
      if (isUnusableKeyError(error)) return { status: 'key_spent', customer: customer ?? null };
      if (error instanceof Stripe.errors.StripeIdempotencyError) {
        // The key was used with other parameters: by an earlier release, or with another customer.
        const found = await this.lookup.search(request);
        if (found !== undefined) return this.resume(request, found);
      }
      return this.declinedBy(error, payment);
    }
  }

  /** @throws the error if it is not a decline of this charge */
  private declinedBy(error: unknown, payment?: { readonly methodHasCustomer: boolean }): ChargeOutcome {
    const kind = classifyStripeError(error, payment);
    if (kind === 'declined') return declineOf(error);
    if (kind !== 'payment_method') throw error;
    if (!this.hasFoundPaymentMethod) throw unusablePaymentMethod(error);
    return declineOf(error);
  }

  private create(
    { idempotencyKey, keyNumber, orderId, amount, paymentMethod }: ChargeRequest,
    customer: string | undefined,
  ): Promise<Stripe.PaymentIntent> {
    return this.stripe.paymentIntents.create(
      {
        amount: amount.amount,
        currency: amount.currency.toLowerCase(),
        payment_method: paymentMethod,
        allowed_payment_method_types: ['card'],
        ...(customer === undefined ? {} : { customer }),
        confirm: true,
        off_session: true,
        metadata: { order_id: orderId, charge_id: idempotencyKey }, // no personal data
        expand,
      },
      { idempotencyKey: numberedKey(idempotencyKey, keyNumber) },
    );
  }

  /**
   * Confirms a PaymentIntent that Stripe created but never sent to the bank. Repeated confirmation charges at
   * most once.
   */
  private async resume(
    request: ChargeRequest,
    intent: Stripe.PaymentIntent,
  ): Promise<ChargeOutcome | ChargeUnderWay> {
    const known = outcomeOf(request, intent);
    if (!isUntried(intent)) return known;
    try {
      const confirmation = { payment_method: request.paymentMethod, off_session: true, expand };
      return outcomeOf(request, await this.stripe.paymentIntents.confirm(intent.id, confirmation));
    } catch (error) {
      return this.declinedBy(error);
    }
  }

  /**
   * Stripe requires the customer of a saved payment method. For an unknown one, the charge itself fails with
   * the reason.
   */
  private async customerOf(paymentMethod: string): Promise<string | undefined> {
    try {
      const { customer } = await this.stripe.paymentMethods.retrieve(paymentMethod);
      this.hasFoundPaymentMethod = true;
      return typeof customer === 'string' ? customer : customer?.id;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  private async refundOnce(request: RefundRequest): Promise<RefundOutcome> {
    if (request.refundReference !== null)
      return refundOutcomeOf(await this.stripe.refunds.retrieve(request.refundReference));
    const reference = request.reference ?? (await this.lookup.search(request))?.id;
    if (reference === undefined) throw new Error('Stripe has no charge for this idempotency key.');
    const idempotencyKey = numberedKey(`${request.idempotencyKey}:refund`, request.refundKeyNumber);
    try {
      return refundOutcomeOf(
        await this.stripe.refunds.create({ payment_intent: reference }, { idempotencyKey }),
      );
    } catch (error) {
      // The next key may be used at once: Stripe refunds no more than was charged.
      if (isUnusableKeyError(error)) return { status: 'failed', reason: 'key_spent' };
      if (!isAlreadyRefunded(error)) throw error;
      const { data } = await this.stripe.refunds.list({ payment_intent: reference, limit: 100 });
      const outcomes = data.map(refundOutcomeOf);
      const existing =
        outcomes.find(({ status }) => status === 'refunded') ??
        outcomes.find(({ status }) => status === 'under_way');
      if (existing === undefined) throw error;
      return existing;
    }
  }
}

function numberedKey(first: string, number: number): string {
  return number === 1 ? first : `${first}:${number}`;
}
