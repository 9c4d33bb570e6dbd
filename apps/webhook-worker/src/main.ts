import { storeScopes } from '@fulfilment/contracts';
import { GuardedClient } from '@fulfilment/guarded-fetch';
import { startApi } from '@fulfilment/http-service';
import { readConfig } from '@fulfilment/runtime';
import { openService } from '@fulfilment/service-host';
import { startBackground } from './background.js';
import { webhookWorkerSettings } from './config.js';
import { migrations } from './migrations/index.js';
import { WebhookWorkerModule } from './webhook-worker.module.js';

const config = readConfig(webhookWorkerSettings);
const service = openService({ name: 'webhook-worker', settings: config, migrations });
if (config.ALLOW_LOOPBACK_TARGETS) {
  service.logger.warn(
    'ALLOW_LOOPBACK_TARGETS is on: webhooks may be sent to this machine. Never set it in production.',
  );
}
const client = new GuardedClient({
  allowLoopback: config.ALLOW_LOOPBACK_TARGETS,
  blockedNetworks: config.BLOCKED_NETWORKS,
  ownUrls: [config.BASE_URL, config.AUTH_URL],
});
service.shutdown.add('outbound connections', () => client.close());
const app = await startApi({
  ...service,
  settings: config,
  api: 'store',
  resourceName: 'Store API',
  scopes: Object.keys(storeScopes),
  module: WebhookWorkerModule.with({ config, client, ...service }),
});
await service.run(app, (shutdown) => startBackground(app, shutdown));
