import type { Database } from '@fulfilment/database';
import type { GuardedClient } from '@fulfilment/guarded-fetch';
import type { Outbox } from '@fulfilment/messaging';
import { type BackgroundLoop, BackgroundTask, type Clock, type Logger } from '@fulfilment/runtime';
import type { CreatorApiSettings } from '../config.js';
import { ReadAudio } from './audio/read-audio.js';
import { FetchAudio } from './fetch-audio.js';
import { requeueUploads } from './requeue-uploads.js';
import { UploadWorker } from './upload-worker.js';
import { ProcessUpload } from './process-upload.js';
import { RecordOutcome } from './record-outcome.js';
import { Spool } from './spool.js';
import { UploadLeases } from './upload-lease.js';
import type { UploadQueue } from './upload-queue.js';

interface UploadProcessingDependencies {
  readonly config: CreatorApiSettings;
  readonly database: Database;
  readonly outbox: Outbox;
  readonly client: GuardedClient;
  readonly uploadQueue: UploadQueue;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly readAudio?: ReadAudio;
}

/** Runs the worker and the requeuing of lost jobs, for the uploads of all creators. */
export class UploadProcessing extends BackgroundTask {
  private readonly requeuing: BackgroundLoop;
  private worker: UploadWorker | undefined;

  constructor(private readonly dependencies: UploadProcessingDependencies) {
    super();
    const { database, uploadQueue, logger } = dependencies;
    this.requeuing = requeueUploads(database, uploadQueue, logger);
  }

  start(): void {
    const { config, database, outbox, client, clock, logger } = this.dependencies;
    this.requeuing.start();
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
      readAudio: this.dependencies.readAudio ?? new ReadAudio(),
      recordOutcome: new RecordOutcome(database, outbox, clock),
      config,
      logger,
    });
    this.worker = new UploadWorker(processUpload, config, logger);
    this.worker.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.worker?.stop(), this.requeuing.stop()]);
  }
}
