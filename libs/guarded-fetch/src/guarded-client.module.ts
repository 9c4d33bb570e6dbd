import { CONFIG } from '@fulfilment/runtime';
import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { GuardedClient } from './guarded-client.js';
import { openGuardedClient } from './settings.js';

/** Provides the `GuardedClient` of a service, with its settings, and closes it at shutdown. */
@Global()
@Module({
  providers: [{ provide: GuardedClient, inject: [CONFIG], useFactory: openGuardedClient }],
  exports: [GuardedClient],
})
export class GuardedClientModule implements OnApplicationShutdown {
  constructor(private readonly client: GuardedClient) {}

  onApplicationShutdown(): Promise<void> {
    return this.client.close();
  }
}
