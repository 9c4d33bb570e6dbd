import { BACKGROUND_DATABASE, type Database } from '@fulfilment/database';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { Outbox } from '@fulfilment/messaging';
import {
  type BackgroundLoop,
  BackgroundTask,
  CLOCK,
  type Clock,
  LOGGER,
  type Logger,
} from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CreatorApiSettings } from '../../config.js';
import { ReadAudio } from '../audio/read-audio.js';
import { FetchAudio } from '../fetching/fetch-audio.js';
import { uploadRequeueLoop } from './requeue-uploads.js';
import { UploadWorker } from './upload-worker.js';
import { ProcessUpload } from './process-upload.js';
import { RecordOutcome } from './record-outcome.js';
import { Spool } from '../fetching/spool.js';
import { UploadLeases } from './upload-leases.js';
import { UploadQueue } from './upload-queue.js';

/** Runs the worker and the requeuing of lost jobs, for the uploads of all creators. */
@Injectable()
export class UploadProcessing extends BackgroundTask {
  private readonly requeuing: BackgroundLoop;
  private worker: UploadWorker | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: CreatorApiSettings,
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly client: GuardedClient,
    private readonly readAudio: ReadAudio,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    uploadQueue: UploadQueue,
  ) {
    super();
    this.requeuing = uploadRequeueLoop(database, uploadQueue, logger);
  }

  start(): void {
    const { config, database, outbox, client, readAudio, clock, logger } = this;
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
      readAudio,
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
