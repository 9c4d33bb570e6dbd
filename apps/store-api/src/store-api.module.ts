import { storeScopes } from '@fulfilment/contracts';
import { ApiModule } from '@fulfilment/http-service';
import { Cleanup, ServiceModule } from '@fulfilment/service-host';
import { type DynamicModule, Module } from '@nestjs/common';
import { BACKGROUND_DATABASE, type Database } from '@fulfilment/database';
import { LOGGER, type Logger } from '@fulfilment/runtime';
import { cleanupJobs } from './cleanup-jobs.js';
import { measurementLoop } from './measurements.js';
import { CONFIG, type StoreApiSettings } from './config.js';
import { features } from './features.js';
import { migrations } from './migrations/index.js';
import { PaymentsModule } from './payments/payments.module.js';

@Module({
  providers: [
    // No class injects this loop, so its factory serves as the token. ServiceLifecycle finds and starts it.
    { provide: measurementLoop, inject: [BACKGROUND_DATABASE, LOGGER], useFactory: measurementLoop },
    {
      provide: Cleanup,
      inject: [BACKGROUND_DATABASE, CONFIG, LOGGER],
      useFactory: (database: Database, config: StoreApiSettings, logger: Logger) =>
        new Cleanup(cleanupJobs(database, config), logger),
    },
  ],
})
export class StoreApiModule {
  static forRoot(config: StoreApiSettings): DynamicModule {
    return {
      module: StoreApiModule,
      imports: [
        ServiceModule.forRoot({ name: 'store-api', config, migrations }),
        ApiModule.forRoot({
          api: 'store',
          resourceName: 'Store API',
          scopes: Object.keys(storeScopes),
          servesReference: true,
        }),
        PaymentsModule.forRoot(config),
        ...features,
      ],
    };
  }
}
