import type { Currency } from '@fulfilment/contracts';
import { convert } from '../money/convert-currency.rules.js';

/** A line of a paid order. The rates are null while they are unknown, or if both currencies are the same. */
export interface PaidLine {
  readonly item_id: string;
  readonly currency: Currency;
  readonly total_amount: number;
  readonly vat_amount: number;
  readonly royalty_amount: number;
  /** Null while the creator is unknown. */
  readonly settlement_currency: Currency | null;
  readonly rate_date: string | null;
  /** Value of one euro in the currency of the order, as decimal text. */
  readonly rate_from: string | null;
  /** Value of one euro in the settlement currency, as decimal text. */
  readonly rate_to: string | null;
}

/**
 * Converts a line to the settlement currency, with amounts as text so that JSON carries them exactly. Returns
 * undefined while the creator or the exchange rate is unknown.
 */
export function convertLine(line: PaidLine) {
  const { item_id, currency, settlement_currency, rate_date, rate_from, rate_to } = line;
  if (settlement_currency === null) return undefined;
  const rate = rate_from === null || rate_to === null ? undefined : { from: rate_from, to: rate_to };
  if (rate === undefined && currency !== settlement_currency) return undefined;
  const settled = (amount: number): string =>
    String(rate === undefined ? amount : convert(BigInt(amount), currency, settlement_currency, rate));
  return {
    item_id,
    settlement_currency,
    settled_revenue: settled(line.total_amount),
    settled_vat: settled(line.vat_amount),
    settled_royalty: settled(line.royalty_amount),
    rate_date,
    rate_from,
    rate_to,
  };
}
