import { type Database, statement } from '@fulfilment/database';
import { bookWaiting } from './book-waiting.js';
import { readEcbRates } from './ecb-rates.rules.js';

const upsert = statement(
  'rates.upsert',
  `INSERT INTO exchange_rates (rate_date, currency, per_euro)
   SELECT DISTINCT ON (currency, rate_date) rate_date, currency, per_euro
   FROM jsonb_to_recordset($1::jsonb) AS r(rate_date date, currency text, per_euro numeric)
   ORDER BY currency, rate_date
   ON CONFLICT (currency, rate_date) DO UPDATE SET per_euro = excluded.per_euro`,
);
const countWaiting = statement('rates.waiting', 'SELECT count(*) AS orders FROM waiting_bookings');

export interface LoadedRates {
  readonly days: number;
  readonly first_day: string;
  readonly last_day: string;
  /** Orders whose money the ledger still cannot take. */
  readonly bookings_waiting: number;
}

/**
 * Takes a file of the ECB's reference rates and books what waited for them. Loading it again changes nothing; a corrected
 * rate holds for what is booked from then on: a booking keeps the rate it was made with.
 * @throws UnreadableRates
 */
export async function loadRates(database: Database, file: string): Promise<LoadedRates> {
  const rates = readEcbRates(file);
  await database.run(upsert, [JSON.stringify(rates)]);
  while (await bookWaiting(database));
  const days = [...new Set(rates.map((rate) => rate.rate_date))].sort();
  const waiting = await database.row<{ orders: number }>(countWaiting);
  return {
    days: days.length,
    first_day: days[0] ?? '',
    last_day: days.at(-1) ?? '',
    bookings_waiting: waiting?.orders ?? 0,
  };
}
