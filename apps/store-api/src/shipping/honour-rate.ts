import type { Currency } from '@fulfilment/contracts';
import { statement, type Transaction } from '@fulfilment/database';
import { notFound, Unprocessable } from '@fulfilment/error-envelope';
import { Injectable } from '@nestjs/common';
import { priceServices } from './rate-cards.js';
import { parcelWeightGrams } from './rate.rules.js';

export interface Quote {
  readonly serviceId: string;
  readonly countryCode: string;
  readonly currency: Currency;
  readonly amount: number;
  /** Null when it was quoted without items. */
  readonly weightGrams: number | null;
  readonly expired: boolean;
}

const readQuote = statement(
  'shipping.read-quote',
  `SELECT service_id AS "serviceId", country_code AS "countryCode", currency, amount, weight_grams AS "weightGrams",
          expires_at <= now() AS expired
   FROM quotes WHERE id = $1 AND creator_id = $2`,
);

/** Holds us to a quoted shipping rate when an order names it. */
@Injectable()
export class HonourRate {
  /** @throws NotFound for a rate of nobody or of another creator */
  async find(tx: Transaction, creatorId: string, rateId: string): Promise<Quote> {
    return (await tx.row<Quote>(readQuote, [rateId, creatorId])) ?? notFound('shipping rate');
  }

  /** @throws Unprocessable when it is too late, or for another country */
  refuseStale(quote: Quote, countryCode: string): void {
    const reason = quote.expired
      ? 'expired'
      : quote.countryCode !== countryCode
        ? 'other_country'
        : undefined;
    if (reason === undefined) return;
    throw new Unprocessable('This shipping rate cannot be used for the order.', [
      { field: 'shipping_rate_id', reason },
    ]);
  }

  /** The quoted price when the parcel weighs what was quoted, else the same service's price for these items. */
  async price(
    tx: Transaction,
    quote: Quote,
    lines: readonly { weightGrams: number; quantity: number }[],
  ): Promise<number> {
    const weightGrams = parcelWeightGrams(lines);
    if (quote.weightGrams === weightGrams) return quote.amount;
    const [service] = await priceServices(tx, { ...quote, weightGrams }, quote.serviceId);
    if (service !== undefined) return service.amount;
    throw new Unprocessable(
      'The quoted service no longer takes these items to this country.',
      lines.map((_, index) => ({ field: `items.${index}.sku`, reason: 'not_shippable_to_country' })),
    );
  }
}
