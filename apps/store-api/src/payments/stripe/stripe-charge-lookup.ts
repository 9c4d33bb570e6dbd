import type Stripe from 'stripe';
import type { Charge, OpenCharge } from '../payment-gateway.js';
import { type ChargeKeys, UnusableKey } from './stripe-idempotency-keys.js';
import { pickMostAdvanced } from './stripe-outcome.rules.js';

/**
 * Stripe's search finds a charge after a minute, during outages after up to an hour
 * (https://docs.stripe.com/api/payment_intents/search); its list contains the charge immediately.
 */
const searchDelayMs = 3_600_000;

/** Stripe's maximum for lists and searches. */
const pageSize = 100;

/** Maximum number of pages of Stripe's list that are read for one charge: 500 PaymentIntents. */
const maxPages = 5;

/** Maximum by which Stripe's clock may be behind PostgreSQL's. */
const maxClockSkewMs = 300_000;

/** Makes Stripe return the whole charge of each PaymentIntent, not only its id. */
const expand = ['data.latest_charge'];

/** Finds the PaymentIntent of a charge while its id is not known. */
export class StripeChargeLookup {
  constructor(private readonly stripe: Stripe) {}

  /**
   * Finds the charge's PaymentIntent, whichever idempotency key created it. Call it after the current key
   * became unusable. Returns undefined when there is none.
   * @throws UnusableKey when the list is too long and the search may not find the charge yet
   */
  async listOrSearch(
    charge: OpenCharge,
    keys: ChargeKeys,
    signal: AbortSignal,
  ): Promise<Stripe.PaymentIntent | undefined> {
    const intents = await this.list(charge, keys, signal);
    if (intents !== 'too_many') return pickMostAdvanced(intents);
    if ((keys.unusableForMs ?? 0) < searchDelayMs) throw new UnusableKey();
    return this.search(charge);
  }

  /**
   * Finds a charge by Stripe's search, which may lack charges of the last hour. So a caller that gets no
   * result may charge only under the same key, or if the charge row is older than an hour.
   */
  async search({ id }: Charge): Promise<Stripe.PaymentIntent | undefined> {
    const query = `metadata['charge_id']:'${id}'`;
    const { data } = await this.stripe.paymentIntents.search({ query, limit: pageSize, expand });
    return pickMostAdvanced(data);
  }

  private async list(
    { id, createdAt }: OpenCharge,
    { customer }: ChargeKeys,
    signal: AbortSignal,
  ): Promise<Stripe.PaymentIntent[] | 'too_many'> {
    const filter = {
      ...(customer === null ? {} : { customer }),
      created: { gte: Math.floor((createdAt.getTime() - maxClockSkewMs) / 1000) },
      limit: pageSize,
      expand,
    };
    const intents: Stripe.PaymentIntent[] = [];
    let last: string | undefined;
    for (let page = 0; page < maxPages; page += 1) {
      signal.throwIfAborted();
      const start = last === undefined ? {} : { starting_after: last };
      const { data, has_more } = await this.stripe.paymentIntents.list({ ...filter, ...start });
      intents.push(...data.filter(({ metadata }) => metadata['charge_id'] === id));
      last = data.at(-1)?.id;
      const isPaid = intents.some(({ status }) => status === 'succeeded');
      if (isPaid || !has_more || last === undefined) return intents;
    }
    return 'too_many';
  }
}
