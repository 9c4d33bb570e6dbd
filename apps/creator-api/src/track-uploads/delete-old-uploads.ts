import { type Database, statement } from '@fulfilment/database';

const uploadsPerBatch = 1_000;

// ARRAY(…) reads the batch once. In a join, PostgreSQL may run a subquery with LIMIT several times.
const deleteOld = statement(
  'track-uploads.delete-old',
  `DELETE FROM track_uploads WHERE id = ANY (ARRAY(
     SELECT id FROM track_uploads
     WHERE status IN ('completed', 'failed') AND updated_at < now() - make_interval(days => $1)
     ORDER BY updated_at LIMIT ${uploadsPerBatch} FOR UPDATE SKIP LOCKED
   ))`,
);

/**
 * Deletes a batch of uploads after their retention, and returns their number.
 * @param retentionDays 0 keeps all uploads
 */
export async function deleteOldUploads(database: Database, retentionDays: number): Promise<number> {
  return retentionDays === 0 ? 0 : database.run(deleteOld, [retentionDays]);
}
