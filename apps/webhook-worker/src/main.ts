import { storeScopes } from '@fulfilment/contracts';
import { openGuardedClient, relaxedTargetSettings } from '@fulfilment/guarded-fetch';
import { startApi } from '@fulfilment/http-service';
import { readConfig, systemClock } from '@fulfilment/runtime';
import { openService } from '@fulfilment/service-host';
import { startBackground } from './background.js';
import { webhookWorkerSettings } from './config.js';
import { migrations } from './migrations/index.js';
import { WebhookWorkerModule } from './webhook-worker.module.js';

const config = readConfig(webhookWorkerSettings);
const service = openService({
  name: 'webhook-worker',
  settings: config,
  migrations,
  forceGenericPlan: true,
  relaxed: relaxedTargetSettings(config),
});
const delivery = service.openPool('delivery', config.DATABASE_DELIVERY_POOL_SIZE);
const client = openGuardedClient(config);
service.shutdown.add('outbound connections', () => client.close());
const app = await startApi({
  ...service,
  settings: config,
  api: 'store',
  resourceName: 'Store API',
  scopes: Object.keys(storeScopes),
  module: WebhookWorkerModule.with({ config, client, delivery, clock: systemClock, ...service }),
});
await service.run(app, (shutdown) => startBackground(app, shutdown));
