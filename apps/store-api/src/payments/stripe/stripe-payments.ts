import type Stripe from 'stripe';
import type { Charge, ProviderPayment, TimeRange } from '../payment-gateway.js';
import type { StripeChargeLookup } from './stripe-charge-lookup.js';
import { isMissing } from './stripe-errors.rules.js';
import { untilAborted } from './until-aborted.js';

/** Stripe's maximum for lists. */
const pageSize = 100;

interface PageParameters {
  readonly created: Stripe.RangeQueryParam;
  readonly limit: number;
  readonly starting_after?: string;
}

/** Reads our payments and refunds at Stripe, for the reconciliation. */
export class StripePayments {
  constructor(
    private readonly stripe: Stripe,
    private readonly lookup: StripeChargeLookup,
  ) {}

  async *list(range: TimeRange, signal: AbortSignal): AsyncGenerator<ProviderPayment[]> {
    const expand = ['data.latest_charge'];
    const intents = listPages(range, signal, (page) => this.stripe.paymentIntents.list({ ...page, expand }));
    for await (const page of intents) yield page.flatMap((intent) => paymentOf(intent) ?? []);
  }

  async find(charge: Charge): Promise<ProviderPayment | undefined> {
    const intent =
      charge.reference === null ? await this.lookup.search(charge) : await this.read(charge.reference);
    return intent && paymentOf(intent);
  }

  async *listFailedRefunds(range: TimeRange, signal: AbortSignal): AsyncGenerator<string[]> {
    const refunds = listPages(range, signal, (page) => this.stripe.refunds.list(page));
    for await (const page of refunds)
      yield page.filter(({ status }) => status === 'failed' || status === 'canceled').map(({ id }) => id);
  }

  private async read(reference: string): Promise<Stripe.PaymentIntent | undefined> {
    try {
      return await this.stripe.paymentIntents.retrieve(reference, { expand: ['latest_charge'] });
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }
}

/** Returns undefined for a PaymentIntent that did not succeed, or that other software created. */
function paymentOf({
  id,
  status,
  metadata,
  latest_charge,
}: Stripe.PaymentIntent): ProviderPayment | undefined {
  const chargeId = metadata['charge_id'];
  if (status !== 'succeeded' || chargeId === undefined) return undefined;
  const refunded = typeof latest_charge === 'object' && latest_charge?.refunded === true;
  return { reference: id, chargeId, refunded };
}

/** Yields pages of the objects that Stripe created in a time range. */
async function* listPages<Item extends { readonly id: string }>(
  { from, to }: TimeRange,
  signal: AbortSignal,
  list: (page: PageParameters) => Promise<{ readonly data: Item[]; readonly has_more: boolean }>,
): AsyncGenerator<Item[]> {
  const seconds = (time: Date): number => Math.floor(time.getTime() / 1000);
  const first = { created: { gte: seconds(from), lt: seconds(to) }, limit: pageSize };
  let last: string | undefined;
  for (;;) {
    const after = last === undefined ? {} : { starting_after: last };
    const { data, has_more } = await untilAborted(signal, () => list({ ...first, ...after }));
    yield data;
    last = data.at(-1)?.id;
    if (!has_more || last === undefined) return;
  }
}
