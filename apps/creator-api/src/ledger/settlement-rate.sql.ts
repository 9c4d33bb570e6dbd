/** A rate is valid on its day and the six days after it; the ECB's longest pause is five days. */
const rateValidDays = 7;

/**
 * SQL: a LATERAL subquery `r` with the latest rates that are valid on the day of a payment, of the payment's
 * currency and of the settlement currency of the creator `c`. It has no row without valid rates, or if the
 * currencies are the same. EUR is stored with `per_euro` 1.
 * @param options SQL expressions of the payment's currency and of its day in UTC
 */
export function settlementRateSql({
  currency,
  day,
}: {
  readonly currency: string;
  readonly day: string;
}): string {
  return `LATERAL (
     SELECT source.rate_date, source.per_euro AS rate_from, target.per_euro AS rate_to
     FROM exchange_rates source
     JOIN exchange_rates target ON target.rate_date = source.rate_date AND target.currency = c.settlement_currency
     WHERE source.currency = ${currency} AND ${currency} <> c.settlement_currency
       AND source.rate_date <= ${day} AND source.rate_date > ${day} - ${rateValidDays}
     ORDER BY source.rate_date DESC LIMIT 1
   ) r`;
}
