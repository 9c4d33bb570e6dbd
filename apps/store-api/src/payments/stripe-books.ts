import type Stripe from 'stripe';
import type { Charge, ChargeRequest } from './payment-gateway.js';
import { furthest } from './stripe-outcome.rules.js';

/**
 * Searching sees a charge within a minute, in outages up to an hour later (https://docs.stripe.com/api/payment_intents/search);
 * listing sees it at once.
 */
const searchSeesWithinMs = 3_600_000;

/** The most pages of Stripe's list that are turned for one charge: half a thousand PaymentIntents. */
const mostPages = 5;

/** How far Stripe's clock may be behind PostgreSQL's. */
const clocksDifferByMs = 300_000;

/** Shows the charge of each PaymentIntent, not its name alone. */
const expand = ['data.latest_charge'];

/** What Stripe has made of a charge, found without its name. */
export class StripeBooks {
  constructor(private readonly stripe: Stripe) {}

  /**
   * What came of any of the charge's keys, once the last of them is spent.
   * @returns undefined when nothing did; `unsure` when too much stands there to look through before searching knows all
   */
  async find(
    request: ChargeRequest,
    signal: AbortSignal,
  ): Promise<Stripe.PaymentIntent | undefined | 'unsure'> {
    const made = await this.list(request, signal);
    if (made !== 'too_many') return furthest(made);
    return (request.keySpentForMs ?? 0) < searchSeesWithinMs ? 'unsure' : this.search(request);
  }

  /** For a charge that was asked for an hour ago or more, or whose key keeps it from being charged twice. */
  async search({ idempotencyKey }: Charge): Promise<Stripe.PaymentIntent | undefined> {
    const query = `metadata['charge_id']:'${idempotencyKey}'`;
    return furthest((await this.stripe.paymentIntents.search({ query, limit: 100, expand })).data);
  }

  private async list(
    { idempotencyKey, spentCustomer, since }: ChargeRequest,
    signal: AbortSignal,
  ): Promise<Stripe.PaymentIntent[] | 'too_many'> {
    const wanted = {
      ...(spentCustomer === null ? {} : { customer: spentCustomer }),
      created: { gte: Math.floor((since.getTime() - clocksDifferByMs) / 1000) },
      limit: 100,
      expand,
    };
    const made: Stripe.PaymentIntent[] = [];
    let last: string | undefined;
    for (let turned = 0; turned < mostPages; turned += 1) {
      signal.throwIfAborted();
      const from = last === undefined ? {} : { starting_after: last };
      const { data, has_more } = await this.stripe.paymentIntents.list({ ...wanted, ...from });
      made.push(...data.filter(({ metadata }) => metadata['charge_id'] === idempotencyKey));
      last = data.at(-1)?.id;
      if (!has_more || last === undefined) return made;
    }
    return 'too_many';
  }
}
