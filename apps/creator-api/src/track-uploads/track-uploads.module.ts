import { BACKGROUND_DATABASE, type Database } from '@fulfilment/database';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, type Clock, LOGGER, type Logger } from '@fulfilment/runtime';
import { Module } from '@nestjs/common';
import { CONFIG, type CreatorApiSettings } from '../config.js';
import { ReadTrackUpload } from './read-track-upload.js';
import { RegisterTrackUpload } from './register-track-upload.js';
import { TrackUploadsController } from './track-uploads.controller.js';
import { UploadProcessing } from './upload-processing.js';
import { UploadQueue } from './upload-queue.js';

@Module({
  controllers: [TrackUploadsController],
  providers: [
    ReadTrackUpload,
    RegisterTrackUpload,
    UploadQueue,
    {
      provide: UploadProcessing,
      inject: [CONFIG, BACKGROUND_DATABASE, Outbox, GuardedClient, UploadQueue, CLOCK, LOGGER],
      useFactory: (
        config: CreatorApiSettings,
        database: Database,
        outbox: Outbox,
        client: GuardedClient,
        uploadQueue: UploadQueue,
        clock: Clock,
        logger: Logger,
      ) => new UploadProcessing({ config, database, outbox, client, uploadQueue, clock, logger }),
    },
  ],
})
export class TrackUploadsModule {}
