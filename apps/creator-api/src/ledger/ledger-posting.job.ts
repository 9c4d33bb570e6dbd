import { type Database, statement } from '@fulfilment/database';
import { BackgroundLoop, Gauge, type Logger } from '@fulfilment/runtime';
import type { CreatorApiSettings } from '../config.js';
import type { WaitingOrders } from './post-waiting-orders.js';
import { closeMonths } from './close-months.js';

const pollIntervalMs = 2_000;

const waiting = new Gauge({
  name: 'bookings_waiting',
  help: 'Paid orders that cannot be posted to the ledger yet because their creator or an exchange rate is missing, counted up to 10000.',
});
const oldest = new Gauge({
  name: 'bookings_waiting_oldest_seconds',
  help: 'Time since the oldest of these orders started to wait.',
});

const measure = statement(
  'postings.measure',
  `SELECT (SELECT count(*) FROM (SELECT FROM waiting_bookings LIMIT 10000) w) AS orders,
     COALESCE(extract(epoch FROM now() - (SELECT min(since) FROM waiting_bookings)), 0)::float8 AS seconds`,
);

/**
 * Closes months and posts waiting orders once their creator and rate are known. Any number of replicas may
 * run it.
 */
export function ledgerPostingJob(
  database: Database,
  waitingOrders: WaitingOrders,
  { STATISTICS_CLOSE_DAY: closeDay }: Pick<CreatorApiSettings, 'STATISTICS_CLOSE_DAY'>,
  logger: Logger,
): BackgroundLoop {
  return new BackgroundLoop({
    name: 'waiting-bookings',
    intervalMs: pollIntervalMs,
    logger,
    round: async () => {
      const firstOpenMonth = await closeMonths(database, closeDay);
      if (firstOpenMonth !== undefined)
        logger.info({ first_open_month: firstOpenMonth }, 'Closed all months before this month.');
      const more = await waitingOrders.round();
      const measured = await database.row<{ orders: number; seconds: number }>(measure);
      waiting.set(measured?.orders ?? 0);
      oldest.set(measured?.seconds ?? 0);
      return more;
    },
  });
}
