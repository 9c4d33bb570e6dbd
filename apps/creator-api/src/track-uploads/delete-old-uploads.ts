import { type Database, statement } from '@fulfilment/database';
import { BackgroundLoop, type Logger } from '@fulfilment/runtime';
import type { CreatorApiSettings } from '../config.js';

const intervalMs = 10 * 60_000;
const uploadsPerBatch = 1_000;

const deleteOld = statement(
  'track-uploads.delete-old',
  `DELETE FROM track_uploads WHERE id IN (
     SELECT id FROM track_uploads
     WHERE status IN ('completed', 'failed') AND updated_at < now() - make_interval(days => $1)
     ORDER BY updated_at LIMIT ${uploadsPerBatch} FOR UPDATE SKIP LOCKED
   )`,
);

/** Deletes a batch of uploads that ended more than `days` ago; 0 keeps all. Returns whether there may be more. */
export async function deleteOldUploads(database: Database, days: number): Promise<boolean> {
  return days > 0 && (await database.run(deleteOld, [days])) === uploadsPerBatch;
}

/** Deletes old uploads in the background; any number of replicas may run. */
export function keepDeletingUploads(
  database: Database,
  { TRACK_UPLOAD_RETENTION_DAYS: days }: Pick<CreatorApiSettings, 'TRACK_UPLOAD_RETENTION_DAYS'>,
  logger: Logger,
): BackgroundLoop {
  return new BackgroundLoop({
    name: 'old-track-uploads',
    intervalMs,
    logger,
    round: () => deleteOldUploads(database, days),
  });
}
