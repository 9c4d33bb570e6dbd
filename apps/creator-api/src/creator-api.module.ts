import type { Database } from '@fulfilment/database';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { Outbox } from '@fulfilment/messaging';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { type DynamicModule, Module } from '@nestjs/common';
import { CONFIG, type CreatorApiSettings } from './config.js';
import { controllers } from './controllers.js';
import { ListCreators } from './creators/list-creators.js';
import { ListOrders } from './orders/list-orders.js';
import { ReadOrder } from './orders/read-order.js';
import { CreateRelease } from './releases/create-release.js';
import { ReadStatistics } from './statistics/read-statistics.js';
import { ReadTrackUpload } from './track-uploads/read-track-upload.js';
import { RegisterTrackUpload } from './track-uploads/register-track-upload.js';
import { UploadQueue } from './track-uploads/upload-queue.js';
import { Visibility } from './visibility/visibility.js';

export interface CreatorApiParts {
  readonly config: CreatorApiSettings;
  readonly database: Database;
  readonly outbox: Outbox;
  readonly client: GuardedClient;
  readonly uploadQueue: UploadQueue;
  readonly clock: Clock;
}

/**
 * The providers that handle requests. The database is not a provider: requests reach it through Visibility
 * only.
 */
@Module({})
export class CreatorApiModule {
  static with({ config, database, outbox, client, uploadQueue, clock }: CreatorApiParts): DynamicModule {
    return {
      module: CreatorApiModule,
      controllers,
      providers: [
        { provide: CONFIG, useValue: config },
        { provide: Visibility, useValue: new Visibility(database) },
        { provide: Outbox, useValue: outbox },
        { provide: GuardedClient, useValue: client },
        { provide: UploadQueue, useValue: uploadQueue },
        { provide: CLOCK, useValue: clock },
        ListCreators,
        ListOrders,
        ReadOrder,
        ReadStatistics,
        CreateRelease,
        RegisterTrackUpload,
        ReadTrackUpload,
      ],
    };
  }
}
