import { once } from 'node:events';
import Stripe from 'stripe';
import {
  type Charge,
  type ChargeOutcome,
  type ChargeRequest,
  type ChargeUnderWay,
  type FailedRefund,
  type KeySpent,
  type NothingCharged,
  PaymentGateway,
  PaymentProviderUnavailable,
  type ProviderPayment,
  type RefundOutcome,
  type RefundRequest,
  type TimeRange,
} from './payment-gateway.js';
import { StripeBooks } from './stripe-books.js';
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
  tellsAlreadyRefunded,
  tellsSpentKey,
} from './stripe-outcome.rules.js';

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
 * Stripe mends what a 500 left half done, by rolling it forward or back (https://docs.stripe.com/error-low-level#server-errors).
 * Its books are asked what came of a spent key when it had this long for it, and no other key is used before.
 */
const mendedWithinMs = 60_000;

/** Stripe names the charge of a PaymentIntent, and shows it when asked to. */
const expand = ['latest_charge'];

/**
 * Charges cards by Stripe's PaymentIntents, created and confirmed in one request while the creator is away
 * (https://docs.stripe.com/payments/save-and-reuse). Amounts are ISO minor units, as Stripe's: JPY has none.
 */
export class StripePaymentGateway extends PaymentGateway {
  private readonly stripe: Stripe;
  private readonly books: StripeBooks;
  private readonly ledger: StripeLedger;
  private readonly mode: StripeMode;
  /**
   * Whether Stripe has found a creator's payment method under our key. A key belongs to one account and one mode for ever, so from then on a
   * payment method that is missing is its creator's trouble, and no sign of a wrong key.
   */
  private knowsOurPaymentMethods = false;

  constructor({ secretKey, apiUrl, timeoutMs }: StripeSettings) {
    super();
    this.stripe = new Stripe(secretKey, {
      protocol: apiUrl.protocol === 'http:' ? 'http' : 'https',
      host: apiUrl.hostname,
      port: apiUrl.port === '' ? (apiUrl.protocol === 'http:' ? 80 : 443) : apiUrl.port,
      timeout: timeoutMs,
      maxNetworkRetries: 0, // the completer asks again; a closed connection the library tries once more, under the same key
      telemetry: false,
    });
    this.books = new StripeBooks(this.stripe);
    this.ledger = new StripeLedger(this.stripe, this.books);
    this.mode = new StripeMode(this.stripe, secretKey);
  }

  /** Compares the key's mode with what Stripe says of it. @throws PaymentProviderRejected when they differ */
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
  ): Promise<ChargeOutcome | ChargeUnderWay | KeySpent | NothingCharged> {
    return within(signal, async () => {
      try {
        await this.mode.check();
        return await this.chargeOnce(request, signal);
      } catch (error) {
        throw paymentError(error);
      }
    });
  }

  refund(request: RefundRequest, signal: AbortSignal): Promise<RefundOutcome> {
    return within(signal, async () => {
      await this.mode.check();
      return this.refundOnce(request);
    });
  }

  listPayments(range: TimeRange, signal: AbortSignal): AsyncIterable<readonly ProviderPayment[]> {
    return this.ledger.payments(range, signal);
  }

  hasPayment(charge: Charge, signal: AbortSignal): Promise<boolean> {
    return within(signal, () => this.ledger.has(charge));
  }

  listFailedRefunds(range: TimeRange, signal: AbortSignal): AsyncIterable<readonly FailedRefund[]> {
    return this.ledger.failedRefunds(range, signal);
  }

  private async chargeOnce(
    request: ChargeRequest,
    signal: AbortSignal,
  ): Promise<ChargeOutcome | ChargeUnderWay | KeySpent | NothingCharged> {
    const { reference, ageMs, keySpentForMs, spentCustomer } = request;
    if (reference !== null)
      return this.goOn(request, await this.stripe.paymentIntents.retrieve(reference, { expand }));
    if (keySpentForMs !== null) {
      const stillSpent = { status: 'key_spent', customer: spentCustomer } as const;
      if (keySpentForMs < mendedWithinMs) return stillSpent;
      const made = await this.books.find(request, signal);
      if (made === 'unsure') return stillSpent;
      return made === undefined ? { status: 'nothing_charged' } : this.goOn(request, made);
    }
    if (ageMs > keysAreKeptForMs) {
      const made = await this.books.search(request);
      if (made !== undefined) return this.goOn(request, made);
    }
    return this.begin(request);
  }

  private async begin(request: ChargeRequest): Promise<ChargeOutcome | ChargeUnderWay | KeySpent> {
    const customer = await this.customerOf(request.paymentMethod);
    const payment = { methodHasCustomer: customer !== undefined };
    try {
      return outcomeOf(request, await this.create(request, customer));
    } catch (error) {
      // Stripe repeats an answer for the same request alone: the customer was the same.
      if (tellsSpentKey(error)) return { status: 'key_spent', customer: customer ?? null };
      if (error instanceof Stripe.errors.StripeIdempotencyError) {
        // The key stands for a request we made in other words, as an earlier release may have done, or with another customer.
        const made = await this.books.search(request);
        if (made !== undefined) return this.goOn(request, made);
      }
      return this.declinedBy(error, payment);
    }
  }

  /** @throws when the error is no verdict on this charge alone */
  private declinedBy(error: unknown, payment?: { readonly methodHasCustomer: boolean }): ChargeOutcome {
    const said = classifyStripeError(error, payment);
    if (said === 'declined') return declineOf(error);
    if (said !== 'payment_method') throw error;
    if (!this.knowsOurPaymentMethods) throw unusablePaymentMethod(error);
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
        metadata: { order_id: orderId, charge_id: idempotencyKey }, // ours only; nothing of a person
        expand,
      },
      { idempotencyKey: numberedKey(idempotencyKey, keyNumber) },
    );
  }

  /** A PaymentIntent that Stripe made and left there is confirmed: it is charged once at most, however often it is confirmed. */
  private async goOn(
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

  /** Stripe wants the customer a saved payment method belongs to named beside it. Of one it does not know, the charge itself tells. */
  private async customerOf(paymentMethod: string): Promise<string | undefined> {
    try {
      const { customer } = await this.stripe.paymentMethods.retrieve(paymentMethod);
      this.knowsOurPaymentMethods = true;
      return typeof customer === 'string' ? customer : customer?.id;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  private async refundOnce(request: RefundRequest): Promise<RefundOutcome> {
    if (request.refundReference !== null)
      return refundOutcomeOf(await this.stripe.refunds.retrieve(request.refundReference));
    const reference = request.reference ?? (await this.books.search(request))?.id;
    if (reference === undefined) throw new Error('Stripe knows no charge of this idempotency key.');
    const idempotencyKey = numberedKey(`${request.idempotencyKey}:refund`, request.refundKeyNumber);
    try {
      return refundOutcomeOf(
        await this.stripe.refunds.create({ payment_intent: reference }, { idempotencyKey }),
      );
    } catch (error) {
      // The next key may be used at once: Stripe gives no more back than was charged.
      if (tellsSpentKey(error)) return { status: 'failed', reason: 'key_spent' };
      if (!tellsAlreadyRefunded(error)) throw error;
      const { data } = await this.stripe.refunds.list({ payment_intent: reference, limit: 100 });
      const given = data.map(refundOutcomeOf);
      const told =
        given.find(({ status }) => status === 'refunded') ??
        given.find(({ status }) => status === 'under_way');
      if (told === undefined) throw error;
      return told;
    }
  }
}

function numberedKey(first: string, number: number): string {
  return number === 1 ? first : `${first}:${number}`;
}

/** The library cannot be told to give up by a signal; its own timeout begins anew with each byte. */
async function within<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  signal.throwIfAborted();
  const ended = new AbortController();
  const tooLate = once(signal, 'abort', { signal: ended.signal }).then(() => {
    throw new PaymentProviderUnavailable('Stripe did not respond in time.');
  });
  try {
    return await Promise.race([work(), tooLate]);
  } finally {
    ended.abort();
  }
}
