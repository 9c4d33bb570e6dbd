import { nilUuid } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import { BackgroundLoop, type Logger } from '@fulfilment/runtime';
import { uploadMetrics } from './upload-metrics.js';
import type { QueuedUpload, UploadQueue } from './upload-queue.js';

const pollIntervalMs = 2_000;
const pageSize = 500;

// Uploads that have been due, or without a valid lease, for 2 s: Redis has no job for them, or all workers
// are busy. The rank counts only the organisation's uploads on this page.
const findOverdue = statement(
  'track-uploads.overdue',
  `SELECT overdue.id, overdue.workflow_id AS "jobId",
     row_number() OVER (PARTITION BY coalesce(c.organisation_id, overdue.creator_id::text) ORDER BY overdue.id) AS rank
   FROM (SELECT id, workflow_id, creator_id FROM track_uploads
         WHERE status IN ('pending', 'processing') AND coalesce(due_at, lease_until) < now() - interval '2 seconds' AND id > $1
         ORDER BY id LIMIT ${pageSize}) overdue
   LEFT JOIN creators c ON c.id = overdue.creator_id ORDER BY overdue.id`,
);
const measureOpenUploads = statement(
  'track-uploads.gauge',
  `SELECT count(*) AS open, coalesce(extract(epoch FROM now() - min(coalesce(due_at, lease_until))), 0)::float8 AS seconds
   FROM track_uploads WHERE status IN ('pending', 'processing')`,
);

/**
 * Returns the loop that re-creates missing jobs of due uploads from PostgreSQL, for example after a crash or
 * a flushed Redis, and measures the open uploads. Any number of replicas may run it.
 */
export function uploadRequeueLoop(
  database: Database,
  queue: Pick<UploadQueue, 'addMissing'>,
  logger: Logger,
): BackgroundLoop {
  let after: string = nilUuid;
  return new BackgroundLoop({
    name: 'track-upload-requeue',
    intervalMs: pollIntervalMs,
    logger,
    round: async () => {
      const uploads = await database.rows<QueuedUpload>(findOverdue, [after]);
      const measured = await database.row<{ open: number; seconds: number }>(measureOpenUploads);
      uploadMetrics.open.set(measured?.open ?? 0);
      uploadMetrics.oldestDue.set(Math.max(0, measured?.seconds ?? 0));
      const last = uploads.at(-1);
      try {
        if (last !== undefined) uploadMetrics.requeued.inc(await queue.addMissing(uploads));
      } catch (error) {
        logger.warn(
          { error, uploads: uploads.length },
          'Track uploads could not be added to the Redis queue; will retry.',
        );
        return false;
      }
      const hasMore = uploads.length === pageSize && last !== undefined;
      after = hasMore ? last.id : nilUuid;
      return hasMore;
    },
  });
}
