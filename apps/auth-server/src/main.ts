import { readConfig } from '@fulfilment/runtime';
import { runService } from '@fulfilment/service-host';
import { AuthServerModule } from './auth-server.module.js';
import { relaxedAuthServerSettings, authServerSettings } from './config.js';

const config = readConfig(authServerSettings);
await runService(AuthServerModule.forRoot(config), relaxedAuthServerSettings(config));
