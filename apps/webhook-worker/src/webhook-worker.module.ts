import { storeScopes } from '@fulfilment/contracts';
import { BACKGROUND_DATABASE, type Database } from '@fulfilment/database';
import { GuardedClientModule } from '@fulfilment/guarded-fetch';
import { ApiModule } from '@fulfilment/http-service';
import { CLOCK, type Clock, LOGGER, type Logger } from '@fulfilment/runtime';
import { Cleanup, ServiceModule } from '@fulfilment/service-host';
import { type DynamicModule, Module } from '@nestjs/common';
import { cleanupJobs } from './cleanup-jobs.js';
import { forceGenericPlan, type WebhookWorkerSettings } from './config.js';
import { features } from './features.js';
import { MaintenanceJob } from './maintenance/maintenance-job.js';
import { migrations } from './migrations/index.js';

@Module({
  providers: [
    MaintenanceJob,
    {
      provide: Cleanup,
      inject: [BACKGROUND_DATABASE, CLOCK, LOGGER],
      useFactory: (database: Database, clock: Clock, logger: Logger) =>
        new Cleanup(cleanupJobs(database, clock, logger), logger),
    },
  ],
})
export class WebhookWorkerModule {
  static forRoot(config: WebhookWorkerSettings): DynamicModule {
    return {
      module: WebhookWorkerModule,
      imports: [
        ServiceModule.forRoot({ name: 'webhook-worker', config, migrations, forceGenericPlan }),
        ApiModule.forRoot({ api: 'store', resourceName: 'Store API', scopes: Object.keys(storeScopes) }),
        GuardedClientModule,
        ...features,
      ],
    };
  }
}
