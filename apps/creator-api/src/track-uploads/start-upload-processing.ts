import type { Database } from '@fulfilment/database';
import type { GuardedClient } from '@fulfilment/guarded-fetch';
import type { Outbox } from '@fulfilment/messaging';
import type { Clock, Logger, Shutdown } from '@fulfilment/runtime';
import type { CreatorApiSettings } from '../config.js';
import { ReadAudio } from './audio/read-audio.js';
import { FetchAudio } from './fetch-audio.js';
import { findUploads } from './find-uploads.js';
import { UploadWorker } from './process-upload.job.js';
import { ProcessUpload } from './process-upload.js';
import { RecordOutcome } from './record-outcome.js';
import { Spool } from './spool.js';
import { UploadLeases } from './upload-lease.js';
import type { UploadQueue } from './upload-queue.js';

export interface ProcessingParts {
  readonly config: CreatorApiSettings;
  readonly database: Database;
  readonly outbox: Outbox;
  readonly client: GuardedClient;
  readonly uploadQueue: UploadQueue;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly readAudio?: ReadAudio;
}

/**
 * Starts the upload finder and worker. Outside Nest, since they access all creators' uploads, which a request
 * must not.
 */
export function startUploadProcessing(parts: ProcessingParts, shutdown: Shutdown): void {
  const { config, database, outbox, client, uploadQueue, clock, logger } = parts;
  const finder = findUploads(database, uploadQueue, logger);
  finder.start();
  shutdown.add('finder of track uploads', () => finder.stop());
  if (config.TRACK_UPLOAD_CONCURRENCY === 0) return;
  const spool = new Spool(config.TRACK_UPLOAD_DIRECTORY);
  spool
    .deleteStaleFiles(clock())
    .catch((error: unknown) =>
      logger.warn({ error }, 'Old files in the track upload directory could not be deleted.'),
    );
  const processUpload = new ProcessUpload({
    leases: new UploadLeases(database, config, logger),
    spool,
    fetchAudio: new FetchAudio(client, config),
    readAudio: parts.readAudio ?? new ReadAudio(),
    recordOutcome: new RecordOutcome(database, outbox, clock),
    config,
    logger,
  });
  const jobs = new UploadWorker(processUpload, config, logger);
  jobs.start();
  shutdown.add('track uploads', () => jobs.stop());
}
