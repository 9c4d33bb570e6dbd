import { BACKGROUND_DATABASE, type Database } from '@fulfilment/database';
import { GuardedClientModule } from '@fulfilment/guarded-fetch';
import { ApiModule } from '@fulfilment/http-service';
import { CLOCK, type Clock, LOGGER, type Logger } from '@fulfilment/runtime';
import { Cleanup, ServiceModule } from '@fulfilment/service-host';
import { type DynamicModule, Module } from '@nestjs/common';
import { cleanupJobs } from './cleanup-jobs.js';
import { CONFIG, type CreatorApiSettings } from './config.js';
import { features } from './features.js';
import { migrations } from './migrations/index.js';
import { VisibilityModule } from './visibility/visibility.module.js';

@Module({
  providers: [
    {
      provide: Cleanup,
      inject: [BACKGROUND_DATABASE, CONFIG, CLOCK, LOGGER],
      useFactory: (database: Database, config: CreatorApiSettings, clock: Clock, logger: Logger) =>
        new Cleanup(cleanupJobs(database, config, clock), logger),
    },
  ],
})
export class CreatorApiModule {
  static forRoot(config: CreatorApiSettings): DynamicModule {
    return {
      module: CreatorApiModule,
      imports: [
        ServiceModule.forRoot({ name: 'creator-api', config, migrations }),
        ApiModule.forRoot({
          api: 'creator',
          resourceName: 'Creator API',
          scopes: [],
          servesReference: true,
        }),
        GuardedClientModule,
        VisibilityModule,
        ...features,
      ],
    };
  }
}
