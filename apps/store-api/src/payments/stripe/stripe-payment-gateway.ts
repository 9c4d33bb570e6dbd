import { publicId } from '@fulfilment/contracts';
import Stripe from 'stripe';
import type { FaultPoints } from '../../fault-points.js';
import {
  type Charge,
  type ChargeOutcome,
  type OpenCharge,
  PaymentGateway,
  type ProviderPayment,
  type RefundOutcome,
  type RefundRequest,
  type TimeRange,
  type UnderWay,
} from '../payment-gateway.js';
import { StripeChargeLookup } from './stripe-charge-lookup.js';
import {
  classifyStripeError,
  isMissing,
  toPaymentError,
  unusablePaymentMethod,
} from './stripe-errors.rules.js';
import {
  type ChargeKeys,
  numberedKey,
  type StripeIdempotencyKeys,
  UnusableKey,
} from './stripe-idempotency-keys.js';
import { StripePayments } from './stripe-payments.js';
import { StripeMode } from './stripe-mode.js';
import {
  declineOf,
  awaitsConfirmation,
  outcomeOf,
  refundOutcomeOf,
  isAlreadyRefunded,
  isUnusableKeyError,
} from './stripe-outcome.rules.js';
import { untilAborted } from './until-aborted.js';

interface StripeSettings {
  readonly secretKey: string;
  readonly apiUrl: URL;
  /** Time without data from Stripe after which its library ends a request. */
  readonly timeoutMs: number;
}

/**
 * Stripe may delete an idempotency key after 24 hours and would then charge a second time
 * (https://docs.stripe.com/api/idempotent_requests). After 23 hours a charge is looked up before it is sent.
 */
const lookupAfterMs = 23 * 3_600_000;

/**
 * Time in which Stripe rolls a request forward or back after a 500
 * (https://docs.stripe.com/error-low-level#server-errors). The lookup for an unusable key waits this long,
 * and no other key is used before.
 */
const recoveryTimeMs = 60_000;

/** Makes Stripe return the whole charge of a PaymentIntent, not only its id. */
const expand = ['latest_charge'];

/**
 * Charges cards with Stripe's PaymentIntents, created and confirmed in one request while the creator is
 * absent (https://docs.stripe.com/payments/save-and-reuse). Amounts are in minor units, as at Stripe.
 */
export class StripePaymentGateway extends PaymentGateway {
  private readonly stripe: Stripe;
  private readonly lookup: StripeChargeLookup;
  private readonly payments: StripePayments;
  private readonly mode: StripeMode;
  /**
   * Whether Stripe has found any creator's payment method with our API key. An API key belongs to one account
   * and one mode forever, so after that a missing payment method is the creator's problem, not a sign of a
   * wrong API key.
   */
  private hasFoundPaymentMethod = false;

  constructor(
    { secretKey, apiUrl, timeoutMs }: StripeSettings,
    private readonly keys: StripeIdempotencyKeys,
    private readonly faultPoints: FaultPoints,
  ) {
    super();
    const isHttp = apiUrl.protocol === 'http:';
    const defaultPort = isHttp ? 80 : 443;
    this.stripe = new Stripe(secretKey, {
      protocol: isHttp ? 'http' : 'https',
      host: apiUrl.hostname,
      port: apiUrl.port === '' ? defaultPort : apiUrl.port,
      timeout: timeoutMs,
      // The completer retries. Even with 0 the library retries once, under the same key, after a closed
      // connection.
      maxNetworkRetries: 0,
      telemetry: false,
    });
    this.lookup = new StripeChargeLookup(this.stripe);
    this.payments = new StripePayments(this.stripe, this.lookup);
    this.mode = new StripeMode(this.stripe, secretKey);
  }

  async checkKey(): Promise<void> {
    try {
      await this.mode.check();
    } catch (error) {
      throw toPaymentError(error);
    }
  }

  charge(charge: OpenCharge, signal: AbortSignal): Promise<ChargeOutcome | UnderWay> {
    return untilAborted(signal, async () => {
      try {
        await this.mode.check();
        return await this.chargeOrLookUp(charge, signal);
      } catch (error) {
        throw toPaymentError(error);
      }
    });
  }

  refund(request: RefundRequest, signal: AbortSignal): Promise<RefundOutcome | UnderWay> {
    return untilAborted(signal, async () => {
      await this.mode.check();
      const keyNumber = await this.keys.readRefundKeyNumber(request);
      const outcome = await this.refundUnderKey(request, keyNumber);
      // The next key may be used immediately: Stripe refunds no more than was charged.
      if (outcome.status === 'failed') await this.keys.useNextForRefund(request, keyNumber);
      return outcome;
    });
  }

  find(charge: Charge, signal: AbortSignal): Promise<ProviderPayment | undefined> {
    return untilAborted(signal, () => this.payments.find(charge));
  }

  listPayments(range: TimeRange, signal: AbortSignal): AsyncIterable<readonly ProviderPayment[]> {
    return this.payments.list(range, signal);
  }

  listFailedRefunds(range: TimeRange, signal: AbortSignal): AsyncIterable<readonly string[]> {
    return this.payments.listFailedRefunds(range, signal);
  }

  private async chargeOrLookUp(charge: OpenCharge, signal: AbortSignal): Promise<ChargeOutcome | UnderWay> {
    if (charge.isFirstRequest) return this.chargeUnderKey(charge, 1);
    if (charge.reference !== null) return this.readIntent(charge, charge.reference);
    const keys = await this.keys.read(charge);
    if (keys.paymentIntent !== null) return this.readIntent(charge, keys.paymentIntent);
    if (keys.unusableForMs !== null) return this.replaceUnusableKey(charge, keys, signal);
    const intent = keys.ageMs > lookupAfterMs ? await this.lookup.search(charge) : undefined;
    return intent === undefined
      ? this.chargeUnderKey(charge, keys.keyNumber)
      : this.confirmIfUnsent(charge, intent);
  }

  /**
   * Looks up the PaymentIntent that a request under an unusable key may have created. If there is none,
   * charges under the next key.
   * @throws UnusableKey while the lookup is too early or inconclusive, or if another process got the next key
   */
  private async replaceUnusableKey(
    charge: OpenCharge,
    keys: ChargeKeys,
    signal: AbortSignal,
  ): Promise<ChargeOutcome | UnderWay> {
    if ((keys.unusableForMs ?? 0) < recoveryTimeMs) throw new UnusableKey();
    const intent = await this.lookup.listOrSearch(charge, keys, signal);
    if (intent !== undefined) {
      await this.keys.saveIntent(charge, intent.id);
      return this.confirmIfUnsent(charge, intent);
    }
    if (!(await this.keys.useNext(charge, keys.keyNumber))) throw new UnusableKey();
    this.faultPoints.pass('next-key-taken');
    signal.throwIfAborted();
    return this.chargeUnderKey(charge, keys.keyNumber + 1);
  }

  private async chargeUnderKey(charge: OpenCharge, keyNumber: number): Promise<ChargeOutcome | UnderWay> {
    const customer = await this.findCustomer(charge.paymentMethod);
    try {
      return outcomeOf(charge, await this.create(charge, keyNumber, customer));
    } catch (error) {
      if (isUnusableKeyError(error)) {
        // Stripe repeats a response only for an identical request. So the request that first used the key had
        // the same customer, which the lookup needs.
        await this.keys.markUnusable(charge, keyNumber, customer ?? null);
        throw new UnusableKey();
      }
      if (error instanceof Stripe.errors.StripeIdempotencyError) {
        // The key was used with other parameters: by an earlier version, or with another customer.
        const intent = await this.lookup.search(charge);
        if (intent !== undefined) return this.confirmIfUnsent(charge, intent);
      }
      return this.declineOrThrow(error, { methodHasCustomer: customer !== undefined });
    }
  }

  /**
   * Turns an error of Stripe into a decline, if it is one.
   * @throws the error if it is not a decline; PaymentProviderError if a wrong API key may be the reason
   */
  private declineOrThrow(error: unknown, payment?: { readonly methodHasCustomer: boolean }): ChargeOutcome {
    const kind = classifyStripeError(error, payment);
    if (kind === 'declined') return declineOf(error);
    if (kind !== 'payment_method') throw error;
    if (!this.hasFoundPaymentMethod) throw unusablePaymentMethod(error);
    return declineOf(error);
  }

  private create(
    { id, orderId, amount, paymentMethod }: OpenCharge,
    keyNumber: number,
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
        metadata: { order_id: publicId('ord', orderId), charge_id: id }, // no personal data
        expand,
      },
      { idempotencyKey: numberedKey(id, keyNumber) },
    );
  }

  private async readIntent(charge: OpenCharge, paymentIntent: string): Promise<ChargeOutcome | UnderWay> {
    return this.confirmIfUnsent(charge, await this.stripe.paymentIntents.retrieve(paymentIntent, { expand }));
  }

  /**
   * Returns the outcome of a PaymentIntent. Confirms it if Stripe created it but never sent it to the bank;
   * repeated confirmation charges at most once.
   */
  private async confirmIfUnsent(
    charge: OpenCharge,
    intent: Stripe.PaymentIntent,
  ): Promise<ChargeOutcome | UnderWay> {
    const known = outcomeOf(charge, intent);
    if (!awaitsConfirmation(intent)) return known;
    try {
      const confirmation = { payment_method: charge.paymentMethod, off_session: true, expand };
      return outcomeOf(charge, await this.stripe.paymentIntents.confirm(intent.id, confirmation));
    } catch (error) {
      return this.declineOrThrow(error);
    }
  }

  /**
   * Returns the customer of a payment method, which Stripe requires for a charge with a saved one. Returns
   * undefined for an unknown method: the charge itself then fails with the reason.
   */
  private async findCustomer(paymentMethod: string): Promise<string | undefined> {
    try {
      const { customer } = await this.stripe.paymentMethods.retrieve(paymentMethod);
      this.hasFoundPaymentMethod = true;
      return typeof customer === 'string' ? customer : customer?.id;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  private async refundUnderKey(request: RefundRequest, keyNumber: number): Promise<RefundOutcome | UnderWay> {
    if (request.refundReference !== null)
      return refundOutcomeOf(await this.stripe.refunds.retrieve(request.refundReference));
    const reference = request.reference ?? (await this.lookup.search(request))?.id;
    if (reference === undefined) throw new Error('Stripe has no payment for this charge.');
    const idempotencyKey = numberedKey(`${request.id}:refund`, keyNumber);
    try {
      return refundOutcomeOf(
        await this.stripe.refunds.create({ payment_intent: reference }, { idempotencyKey }),
      );
    } catch (error) {
      if (isUnusableKeyError(error)) return { status: 'failed', reason: 'unusable_key' };
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
