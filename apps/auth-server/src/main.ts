import { readConfig, systemClock } from '@fulfilment/runtime';
import { openService } from '@fulfilment/service-host';
import { relaxedAuthSettings, settings } from './config.js';
import { migrations } from './migrations/index.js';
import { startAuthServer } from './start-auth-server.js';

const config = readConfig(settings);
// The service consumes no messages. It relays the outbox messages of its use cases and of cli.ts.
const service = openService({
  name: 'auth-server',
  settings: config,
  migrations,
  forceGenericPlan: true,
  relaxed: relaxedAuthSettings(config),
});
const authServer = await startAuthServer({
  config,
  ...service,
  outbox: service.messaging.outbox,
  clock: systemClock,
});
await service.run(authServer.app, (shutdown) => authServer.startLoops(shutdown));
