import type { Currency } from '@fulfilment/contracts';
import { Database, BatchLoader, statement } from '@fulfilment/database';
import { throwNotFound, Unprocessable } from '@fulfilment/error-envelope';
import { Injectable } from '@nestjs/common';
import { bandsOf } from './rate-cards.js';
import { bandPrice, parcelWeightGrams, type WeightBand } from './rate.rules.js';

export interface Quote {
  readonly currency: Currency;
  readonly countryCode: string;
  readonly amount: number;
  /** Null for a quote without items. */
  readonly weightGrams: number | null;
  readonly expired: boolean;
  /** Current prices of the quoted service to the country; null when it no longer ships there. */
  readonly bands: readonly WeightBand[] | null;
  /** When the quote was read, by PostgreSQL's clock. */
  readonly readAt: Date;
}

const readQuotes = statement(
  'shipping.read-quotes',
  `SELECT (requested.number - 1)::int AS index, q.country_code AS "countryCode", q.currency, q.amount, q.weight_grams AS "weightGrams",
          q.expires_at <= now() AS expired, now() AS "readAt", ${bandsOf('q.service_id', 'q.country_code', 'q.currency')} AS bands
   FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS requested (quote_id, creator_of_caller, number)
   JOIN quotes q ON q.id = requested.quote_id AND q.creator_id = requested.creator_of_caller`,
);

interface QuoteKey {
  readonly rateId: string;
  readonly creatorId: string;
}

/** Resolves the quote of an order and prices its parcel. */
@Injectable()
export class ShippingQuotes {
  private readonly quotes: BatchLoader<QuoteKey, Quote>;

  constructor(private readonly database: Database) {
    this.quotes = new BatchLoader({ run: (keys) => this.loadBatch(keys), maxConcurrent: 2 });
  }

  /** @throws NotFound for an unknown rate, or one of another creator */
  async find(creatorId: string, rateId: string): Promise<Quote> {
    return (await this.quotes.load({ creatorId, rateId })) ?? throwNotFound('shipping rate');
  }

  /** @throws Unprocessable when the quote has expired or is for another country */
  assertUsable(quote: Quote, countryCode: string): void {
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

  /**
   * Returns the quoted price if the parcel has the quoted weight, else the current price of the same service.
   * @throws Unprocessable when the service no longer ships the parcel
   */
  price(quote: Quote, lines: readonly { weightGrams: number; quantity: number }[]): number {
    const weightGrams = parcelWeightGrams(lines);
    if (quote.weightGrams === weightGrams) return quote.amount;
    const amount = quote.bands === null ? undefined : bandPrice(quote.bands, weightGrams);
    if (amount !== undefined) return amount;
    throw new Unprocessable(
      'The quoted service no longer ships these items to this country.',
      lines.map((_, index) => ({ field: `items.${index}.sku`, reason: 'not_shippable_to_country' })),
    );
  }

  private async loadBatch(keys: readonly QuoteKey[]): Promise<{ index: number; row: Quote }[]> {
    const rows = await this.database.rows<Quote & { readonly index: number }>(readQuotes, [
      keys.map(({ rateId }) => rateId),
      keys.map(({ creatorId }) => creatorId),
    ]);
    return rows.map((row) => ({ index: row.index, row }));
  }
}
