import type { Database } from '@fulfilment/database';
import { BackgroundLoop, type Logger } from '@fulfilment/runtime';
import { measureOversold } from './catalogue/oversold-stock.js';
import { measureOrders } from './orders/measure-orders.js';

const intervalMs = 10_000;

/** Sets the gauges that are read from the database. */
export function measurements(database: Database, logger: Logger): BackgroundLoop {
  return new BackgroundLoop({
    name: 'measurements',
    intervalMs,
    logger,
    round: async () => {
      await measureOversold(database);
      await measureOrders(database);
      return false;
    },
  });
}
