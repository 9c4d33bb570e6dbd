import { type Database, statement } from '@fulfilment/database';

const uploadsPerBatch = 1_000;

/** An array, so that the batch is read once: a join may read a subquery with LIMIT several times. */
const deleteOld = statement(
  'track-uploads.delete-old',
  `DELETE FROM track_uploads WHERE id = ANY (ARRAY(
     SELECT id FROM track_uploads
     WHERE status IN ('completed', 'failed') AND updated_at < now() - make_interval(days => $1)
     ORDER BY updated_at LIMIT ${uploadsPerBatch} FOR UPDATE SKIP LOCKED
   ))`,
);

/**
 * Deletes a batch of uploads that finished more than `days` ago; 0 keeps all. Returns their number.
 */
export async function deleteOldUploads(database: Database, days: number): Promise<number> {
  return days === 0 ? 0 : database.run(deleteOld, [days]);
}
