/** A rate is valid for 7 days: the European Central Bank publishes none for at most five consecutive days. */
const rateValidDays = 7;

/**
 * SQL: a LATERAL subquery `r` with the latest rates, on or before the day of a payment, of the payment's
 * currency and of the settlement currency of the creator `c`. It has no row if there are no such rates or the
 * currencies are the same.
 * @param options SQL expressions of the payment's currency and of its day in UTC
 */
export function settlementRate({
  currency,
  day,
}: {
  readonly currency: string;
  readonly day: string;
}): string {
  return `LATERAL (
     SELECT f.rate_date, f.per_euro AS rate_from, t.per_euro AS rate_to
     FROM exchange_rates f JOIN exchange_rates t ON t.rate_date = f.rate_date AND t.currency = c.settlement_currency
     WHERE f.currency = ${currency} AND ${currency} <> c.settlement_currency
       AND f.rate_date <= ${day} AND f.rate_date > ${day} - ${rateValidDays}
     ORDER BY f.rate_date DESC LIMIT 1
   ) r`;
}
