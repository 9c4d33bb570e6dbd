import { Gauge } from '@fulfilment/runtime';
import type { Pool } from 'pg';

/** The pools of this process, by the name that pg_stat_activity shows. */
const pools = new Map<string, Pool>();

/** Reports the use of a pool from now on. */
export function measurePool(pool: Pool): void {
  pools.set(pool.options.application_name ?? '', pool);
}

registerGauge(
  'database_pool_connections_used',
  'Connections of a pool of this replica that are in use.',
  (pool) => pool.totalCount - pool.idleCount,
);
registerGauge(
  'database_pool_connections_max',
  'Connections that a pool of this replica may open.',
  (pool) => pool.options.max,
);
registerGauge(
  'database_pool_requests_waiting',
  'Transactions and statements of this replica that wait because all connections of their pool are in use.',
  (pool) => pool.waitingCount,
);

function registerGauge(name: string, help: string, read: (pool: Pool) => number): void {
  const values = new Gauge({
    name,
    help,
    labelNames: ['pool'],
    collect: () => {
      for (const [label, pool] of pools) values.set({ pool: label }, read(pool));
    },
  });
}
