import { once } from 'node:events';
import Stripe from 'stripe';
import {
  type Charge,
  type ChargeOutcome,
  type ChargeRequest,
  type ChargeUnderWay,
  type KeySpent,
  type NothingCharged,
  PaymentGateway,
  type RefundOutcome,
  type RefundRequest,
} from './payment-gateway.js';
import {
  declineOf,
  furthest,
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
const expandEach = ['data.latest_charge'];

/** How far Stripe's clock may be behind PostgreSQL's. */
const clocksDifferByMs = 300_000;

/**
 * Charges cards by Stripe's PaymentIntents, created and confirmed in one request while the creator is away
 * (https://docs.stripe.com/payments/save-and-reuse). Amounts are ISO minor units, as Stripe's: JPY has none.
 */
export class StripePaymentGateway extends PaymentGateway {
  private readonly stripe: Stripe;

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
  }

  charge(
    request: ChargeRequest,
    signal: AbortSignal,
  ): Promise<ChargeOutcome | ChargeUnderWay | KeySpent | NothingCharged> {
    return within(signal, () => this.chargeOnce(request, signal));
  }

  refund(request: RefundRequest, signal: AbortSignal): Promise<RefundOutcome> {
    return within(signal, () => this.refundOnce(request));
  }

  private async chargeOnce(
    request: ChargeRequest,
    signal: AbortSignal,
  ): Promise<ChargeOutcome | ChargeUnderWay | KeySpent | NothingCharged> {
    const { reference, ageMs, keySpentForMs } = request;
    if (reference !== null)
      return this.goOn(request, await this.stripe.paymentIntents.retrieve(reference, { expand }));
    if (keySpentForMs !== null) {
      if (keySpentForMs < mendedWithinMs) return { status: 'key_spent' };
      const made = await this.inTheBooks(request, signal);
      return made === undefined ? { status: 'nothing_charged' } : this.goOn(request, made);
    }
    if (ageMs > keysAreKeptForMs) {
      const made = await this.search(request);
      if (made !== undefined) return this.goOn(request, made);
    }
    return this.begin(request);
  }

  private async begin(request: ChargeRequest): Promise<ChargeOutcome | ChargeUnderWay | KeySpent> {
    const customer = await this.customerOf(request.paymentMethod);
    try {
      return outcomeOf(request, await this.create(request, customer));
    } catch (error) {
      if (tellsSpentKey(error)) return { status: 'key_spent' };
      if (error instanceof Stripe.errors.StripeIdempotencyError) {
        // The key stands for a request we made in other words, as an earlier release may have done.
        const made = await this.search(request);
        if (made !== undefined) return this.goOn(request, made);
      }
      const declined = declineOf(error);
      if (declined === undefined) throw error;
      return declined;
    }
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
      const declined = error instanceof Stripe.errors.StripeCardError ? declineOf(error) : undefined;
      if (declined === undefined) throw error;
      return declined;
    }
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

  /** What Stripe's list has of any of the charge's keys: unlike searching it knows what was made a moment ago. */
  private async inTheBooks(
    { idempotencyKey, paymentMethod, since }: ChargeRequest,
    signal: AbortSignal,
  ): Promise<Stripe.PaymentIntent | undefined> {
    const customer = await this.customerOf(paymentMethod);
    const made: Stripe.PaymentIntent[] = [];
    const page = {
      ...(customer === undefined ? {} : { customer }),
      created: { gte: Math.floor((since.getTime() - clocksDifferByMs) / 1000) },
      limit: 100,
      expand: expandEach,
    };
    for await (const intent of this.stripe.paymentIntents.list(page)) {
      signal.throwIfAborted();
      if (intent.metadata['charge_id'] === idempotencyKey) made.push(intent);
    }
    return furthest(made);
  }

  /**
   * Searching sees a charge within a minute, at times an hour (https://docs.stripe.com/api/payment_intents/search): soon enough for one
   * whose key is a day old, or is refused for other words, for a younger one is still kept from being charged twice by its key.
   */
  private async search({ idempotencyKey }: Charge): Promise<Stripe.PaymentIntent | undefined> {
    const query = `metadata['charge_id']:'${idempotencyKey}'`;
    return furthest(
      (await this.stripe.paymentIntents.search({ query, limit: 100, expand: expandEach })).data,
    );
  }

  private async refundOnce(request: RefundRequest): Promise<RefundOutcome> {
    if (request.refundReference !== null)
      return refundOutcomeOf(await this.stripe.refunds.retrieve(request.refundReference));
    const reference = request.reference ?? (await this.search(request))?.id;
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
    throw new Error('Stripe did not answer in time.');
  });
  try {
    return await Promise.race([work(), tooLate]);
  } finally {
    ended.abort();
  }
}
