import { Unprocessable } from '@fulfilment/error-envelope';
import { bandPrice, parcelWeightGrams, type WeightBand } from './rate.rules.js';
import type { Quote } from './sealed-quotes.js';

/** @throws Unprocessable when the quote has expired or is for another country */
export function requireUsableQuote(quote: Quote, countryCode: string, now: Date): void {
  if (quote.expiresAt <= now) throw unusableQuote('expired');
  if (quote.countryCode !== countryCode) throw unusableQuote('other_country');
}

function unusableQuote(reason: 'expired' | 'other_country'): Unprocessable {
  return new Unprocessable('This shipping rate cannot be used for the order.', [
    { field: 'shipping_rate_id', reason },
  ]);
}

/**
 * Returns the quoted price if the parcel has the quoted weight, else the current price of the same service.
 * @param bands current prices of the service to the country; null when it no longer ships there
 * @throws Unprocessable when the service no longer ships the parcel
 */
export function shippingPrice(
  quote: Quote,
  bands: readonly WeightBand[] | null,
  lines: readonly { readonly weightGrams: number; readonly quantity: number }[],
): number {
  const weightGrams = parcelWeightGrams(lines);
  if (quote.weightGrams === weightGrams) return quote.amount;
  const amount = bands === null ? undefined : bandPrice(bands, weightGrams);
  if (amount !== undefined) return amount;
  throw new Unprocessable(
    'The quoted service no longer ships these items to this country.',
    lines.map((_, index) => ({ field: `items.${index}.sku`, reason: 'not_shippable_to_country' })),
  );
}
