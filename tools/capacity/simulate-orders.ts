import { seededRandom } from '../demo/random.ts';
import { poissonArrivals, simulate, type Station } from './queueing.ts';

export const simulatedMs = 60_000;
const seed = 1; // so that the same load always gives the same prediction

interface OrderCosts {
  /** Processor times of an order. */
  readonly storeApiMs: number;
  readonly postgresMs: number;
  readonly serviceCores: number;
  readonly databaseCores: number;
  /** Orders a second that one limited edition can take; 0 if the orders have many SKUs. */
  readonly skuOrdersPerSecond: number;
}

/** The stations that each order passes: the API, the database, and the row of a limited edition. */
export function orderStations(costs: OrderCosts): Station[] {
  const { storeApiMs, postgresMs, serviceCores, databaseCores, skuOrdersPerSecond } = costs;
  const stations: Station[] = [
    { name: 'store-api', servers: serviceCores, serviceMs: storeApiMs, variability: 'exponential' },
    { name: 'postgres', servers: databaseCores, serviceMs: postgresMs, variability: 'exponential' },
  ];
  if (skuOrdersPerSecond === 0) return stations;
  return [
    ...stations,
    { name: 'row of the SKU', servers: 1, serviceMs: 1000 / skuOrdersPerSecond, variability: 'fixed' },
  ];
}

/** Simulates a minute of orders that arrive independently of each other. */
export function simulateOrders(stations: readonly Station[], perSecond: number) {
  const { next } = seededRandom(seed);
  return simulate(stations, poissonArrivals(perSecond, simulatedMs, next), next);
}
