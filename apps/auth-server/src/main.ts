import { readConfig } from '@fulfilment/runtime';
import { runService } from '@fulfilment/service-host';
import { AuthServerModule } from './auth-server.module.js';
import { relaxedAuthSettings, settings } from './config.js';

const config = readConfig(settings);
await runService(AuthServerModule.forRoot(config), relaxedAuthSettings(config));
