import type { Currency } from '@fulfilment/contracts';
import { convert, type ExchangeRate } from '../money/convert-currency.rules.js';

/**
 * A line of a paid order. The settlement currency is null while the creator is unknown. The rates are what
 * one euro is in the order's currency and in the settlement currency; null while they are unknown, or if the
 * two currencies are the same.
 */
export interface PaidLine {
  readonly item_id: string;
  readonly currency: Currency;
  readonly total_amount: number;
  readonly vat_amount: number;
  readonly royalty_amount: number;
  readonly settlement_currency: Currency | null;
  readonly rate_date: string | null;
  readonly rate_from: string | null;
  readonly rate_to: string | null;
}

/** A line in its creator's settlement currency. Amounts are text so that JSON carries them exactly. */
interface ConvertedLine {
  readonly item_id: string;
  readonly settlement_currency: Currency;
  readonly settled_revenue: string;
  readonly settled_vat: string;
  readonly settled_royalty: string;
  readonly rate_date: string | null;
  readonly rate_from: string | null;
  readonly rate_to: string | null;
}

/**
 * Converts a line to the settlement currency. Returns undefined while the creator or the exchange rate is
 * unknown.
 */
export function convertLine(line: PaidLine): ConvertedLine | undefined {
  const { item_id, settlement_currency } = line;
  if (settlement_currency === null) return undefined;
  const rate = exchangeRate(line);
  if (rate === undefined && line.currency !== settlement_currency) return undefined;
  const settled = (amount: number): string =>
    String(rate === undefined ? amount : convert(BigInt(amount), line.currency, settlement_currency, rate));
  return {
    item_id,
    settlement_currency,
    settled_revenue: settled(line.total_amount),
    settled_vat: settled(line.vat_amount),
    settled_royalty: settled(line.royalty_amount),
    rate_date: rate?.date ?? null,
    rate_from: rate?.from ?? null,
    rate_to: rate?.to ?? null,
  };
}

function exchangeRate({ rate_date: date, rate_from: from, rate_to: to }: PaidLine): ExchangeRate | undefined {
  return date === null || from === null || to === null ? undefined : { date, from, to };
}
