import type { Database } from '@fulfilment/database';
import { deleteExpiredIdempotencyKeys } from '@fulfilment/http-service';
import type { Clock } from '@fulfilment/runtime';
import type { CleanupJob } from '@fulfilment/service-host';
import type { CreatorApiSettings } from './config.js';
import { deleteOldFeeds } from './order-stream/order-feeds.js';
import { deleteOldUploads } from './track-uploads/delete-old-uploads.js';

const intervalMs = 10 * 60_000;

export function cleanupJobs(
  database: Database,
  config: Pick<CreatorApiSettings, 'TRACK_UPLOAD_RETENTION_DAYS'>,
  clock: Clock,
): CleanupJob[] {
  return [
    {
      name: 'track uploads',
      intervalMs,
      deleteBatch: () => deleteOldUploads(database, config.TRACK_UPLOAD_RETENTION_DAYS),
    },
    { name: 'order feeds', intervalMs, deleteBatch: () => deleteOldFeeds(database) },
    {
      name: 'idempotency keys',
      intervalMs,
      deleteBatch: () => deleteExpiredIdempotencyKeys(database, clock()),
    },
  ];
}
