import type { Database } from '@fulfilment/database';
import type { CleanupJob } from '@fulfilment/service-host';
import type { StoreApiSettings } from './config.js';
import { deleteExpiredKeys } from './orders/idempotency-keys.js';
import { redactOldAddresses } from './orders/maintenance/redact-orders.js';

const intervalMs = 10_000;

export function cleanupJobs(
  database: Database,
  config: Pick<StoreApiSettings, 'ADDRESS_RETENTION_DAYS'>,
): CleanupJob[] {
  return [
    { name: 'idempotency keys', intervalMs, deleteBatch: () => deleteExpiredKeys(database) },
    {
      name: 'addresses',
      intervalMs,
      // Redacts the addresses; the orders stay.
      deleteBatch: () => redactOldAddresses(database, config.ADDRESS_RETENTION_DAYS),
    },
  ];
}
