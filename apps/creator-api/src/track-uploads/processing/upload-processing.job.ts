import { BACKGROUND_DATABASE, type Database } from '@fulfilment/database';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, type Clock, LOGGER, type Logger, SlotLoop } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CreatorApiSettings } from '../../config.js';
import { ReadAudio } from '../audio/read-audio.js';
import { FetchAudio } from '../fetching/fetch-audio.js';
import { Spool } from '../fetching/spool.js';
import { ProcessUpload } from './process-upload.js';
import { RecordOutcome } from './record-outcome.js';
import { type LeasedUpload, UploadLeases } from './upload-leases.js';

/** Longest wait of an upload that another replica registered or retries, while this one has a free slot. */
const pollIntervalMs = 1_000;

/** Processes the due uploads of all creators. Any number of replicas may run. */
@Injectable()
export class UploadProcessing extends SlotLoop<LeasedUpload> {
  private readonly spool: Spool;

  constructor(
    @Inject(CONFIG) private readonly config: CreatorApiSettings,
    @Inject(BACKGROUND_DATABASE) database: Database,
    outbox: Outbox,
    client: GuardedClient,
    readAudio: ReadAudio,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const leases = new UploadLeases(database, config, logger);
    const spool = new Spool(config.TRACK_UPLOAD_DIRECTORY);
    const processUpload = new ProcessUpload({
      leases,
      spool,
      fetchAudio: new FetchAudio(client, config),
      readAudio,
      recordOutcome: new RecordOutcome(database, outbox, clock),
      config,
      logger,
    });
    super({
      name: 'track-uploads',
      intervalMs: pollIntervalMs,
      logger,
      slots: config.TRACK_UPLOAD_CONCURRENCY,
      claim: (max) => leases.claim(max),
      work: async (upload, stopping) => {
        await processUpload.run(upload, stopping);
        this.wake(); // the organisation may have reached its limit, and has a free slot again
      },
    });
    this.spool = spool;
  }

  override start(): void {
    if (this.config.TRACK_UPLOAD_CONCURRENCY === 0) return;
    this.spool
      .deleteStaleFiles(this.clock())
      .catch((error: unknown) =>
        this.logger.warn({ error }, 'Old files in the track upload directory could not be deleted.'),
      );
    super.start();
  }
}
