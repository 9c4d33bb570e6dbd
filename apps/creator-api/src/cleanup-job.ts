import type { Database } from '@fulfilment/database';
import { deleteExpiredIdempotencyKeys } from '@fulfilment/http-service';
import { BackgroundLoop, type Clock, type Logger } from '@fulfilment/runtime';
import type { CreatorApiSettings } from './config.js';
import { deleteOldUploads } from './track-uploads/delete-old-uploads.js';

const intervalMs = 10 * 60_000;

export interface CleanupParts {
  readonly database: Database;
  readonly config: Pick<CreatorApiSettings, 'TRACK_UPLOAD_RETENTION_DAYS'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Deletes old track uploads and expired idempotency keys in batches. Any number of replicas may run it. */
export function cleanupJob({ database, config, clock, logger }: CleanupParts): BackgroundLoop {
  return new BackgroundLoop({
    name: 'upkeep',
    intervalMs,
    logger,
    round: async () => {
      const moreUploads = await deleteOldUploads(database, config.TRACK_UPLOAD_RETENTION_DAYS);
      const moreKeys = await deleteExpiredIdempotencyKeys(database, clock());
      return moreUploads || moreKeys;
    },
  });
}
