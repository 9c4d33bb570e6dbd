/** A rate holds for the days on which the European Central Bank publishes none; its longest pause is five days. */
const rateHoldsDays = 7;

/**
 * SQL: the newest rates of the day of a payment, or of the days just before, that turn its currency into what its creator `c`
 * is settled in. No row while there are none; no row when the currencies are the same.
 * @param payment SQL of the payment's currency, and of its day in UTC
 */
export function rateOfPayment({
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
       AND f.rate_date <= ${day} AND f.rate_date > ${day} - ${rateHoldsDays}
     ORDER BY f.rate_date DESC LIMIT 1
   ) r`;
}
