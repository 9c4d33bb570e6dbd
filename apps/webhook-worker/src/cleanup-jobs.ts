import type { Database } from '@fulfilment/database';
import { deleteExpiredIdempotencyKeys } from '@fulfilment/http-service';
import type { Clock, Logger } from '@fulfilment/runtime';
import type { CleanupJob } from '@fulfilment/service-host';
import { deleteUnreadFeeds } from './feed/feed-positions.js';
import { deleteExpiredDays } from './maintenance/day-partitions.js';
import { deleteExpiredSubscriptions } from './subscriptions/mark-deleted.js';
import { deleteExpiredRevocations } from './subscriptions/revocation/access-revocations.js';

const intervalMs = 60_000;
/** For a job that reads a whole table. */
const longIntervalMs = 3_600_000;

export function cleanupJobs(database: Database, clock: Clock, logger: Logger): CleanupJob[] {
  return [
    { name: 'days of deliveries', intervalMs, deleteBatch: () => deleteExpiredDays(database, logger) },
    { name: 'event feeds', intervalMs, deleteBatch: () => deleteUnreadFeeds(database) },
    { name: 'access revocations', intervalMs, deleteBatch: () => deleteExpiredRevocations(database) },
    {
      name: 'deleted subscriptions',
      intervalMs: longIntervalMs,
      deleteBatch: () => deleteExpiredSubscriptions(database),
    },
    {
      name: 'idempotency keys',
      intervalMs,
      deleteBatch: () => deleteExpiredIdempotencyKeys(database, clock()),
    },
  ];
}
