import { type Database, statement } from '@fulfilment/database';
import { postWaitingOrders } from '../ledger/post-waiting-orders.js';
import { parseEcbRates } from './ecb-rates.rules.js';

const upsert = statement(
  'rates.upsert',
  `INSERT INTO exchange_rates (rate_date, currency, per_euro)
   SELECT DISTINCT ON (currency, rate_date) rate_date, currency, per_euro
   FROM jsonb_to_recordset($1::jsonb) AS r(rate_date date, currency text, per_euro numeric)
   ORDER BY currency, rate_date
   ON CONFLICT (currency, rate_date) DO UPDATE SET per_euro = excluded.per_euro
     WHERE exchange_rates.per_euro <> excluded.per_euro`,
);
const countWaiting = statement('rates.waiting', 'SELECT count(*) AS orders FROM waiting_postings');

interface StoredRates {
  readonly days: number;
  readonly first_day: string;
  readonly last_day: string;
}

interface LoadedRates extends StoredRates {
  /** Number of waiting postings: paid orders whose creator or exchange rate is still unknown. */
  readonly bookings_waiting: number;
}

/**
 * Stores reference rates of the ECB. Safe to repeat.
 * @param text the content of the file
 * @throws UnreadableRates
 */
export async function storeRates(database: Database, text: string): Promise<StoredRates> {
  const rates = parseEcbRates(text);
  await database.run(upsert, [JSON.stringify(rates)]);
  const days = [...new Set(rates.map((rate) => rate.rate_date))].sort();
  return { days: days.length, first_day: days[0] ?? '', last_day: days.at(-1) ?? '' };
}

/**
 * Stores reference rates and posts the orders that waited for them. A corrected rate applies to later
 * postings; earlier ones keep their rate.
 * @param text the content of the file
 * @throws UnreadableRates
 */
export async function loadRates(database: Database, text: string): Promise<LoadedRates> {
  const stored = await storeRates(database, text);
  await postWaitingOrders(database);
  const waiting = await database.row<{ orders: number }>(countWaiting);
  return { ...stored, bookings_waiting: waiting?.orders ?? 0 };
}
