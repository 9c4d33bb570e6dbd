import { BACKGROUND_DATABASE, type Database, statement } from '@fulfilment/database';
import { BackgroundLoop, LOGGER, type Logger } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { uploadMetrics } from './upload-metrics.js';

const intervalMs = 2_000;

const measureOpenUploads = statement(
  'track-uploads.gauge',
  `SELECT count(*) AS open, coalesce(extract(epoch FROM now() - min(coalesce(due_at, lease_until))), 0)::float8 AS seconds
   FROM track_uploads WHERE status IN ('pending', 'processing')`,
);

/** Sets the gauges of open uploads, also on replicas that process none. */
@Injectable()
export class UploadMeasurement extends BackgroundLoop {
  constructor(@Inject(BACKGROUND_DATABASE) database: Database, @Inject(LOGGER) logger: Logger) {
    super({
      name: 'track-upload-measurement',
      intervalMs,
      logger,
      round: async () => {
        const measured = await database.row<{ open: number; seconds: number }>(measureOpenUploads);
        uploadMetrics.open.set(measured?.open ?? 0);
        uploadMetrics.oldestDue.set(Math.max(0, measured?.seconds ?? 0));
      },
    });
  }
}
