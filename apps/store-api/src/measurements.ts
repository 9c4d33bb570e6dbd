import type { Database } from '@fulfilment/database';
import { BackgroundLoop, type Logger } from '@fulfilment/runtime';
import { measureOversold } from './catalogue/stock/measure-oversold.js';
import { measureOrders } from './orders/maintenance/measure-orders.js';

const intervalMs = 10_000;

/** Returns the loop that sets the gauges of stock and orders from the database. */
export function measurementLoop(database: Database, logger: Logger): BackgroundLoop {
  return new BackgroundLoop({
    name: 'measurements',
    intervalMs,
    logger,
    round: async () => {
      await measureOversold(database);
      await measureOrders(database);
    },
  });
}
