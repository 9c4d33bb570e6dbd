import { relaxedTargetSettings } from '@fulfilment/guarded-fetch';
import { readConfig } from '@fulfilment/runtime';
import { runService } from '@fulfilment/service-host';
import { creatorApiSettings } from './config.js';
import { CreatorApiModule } from './creator-api.module.js';

const config = readConfig(creatorApiSettings);
await runService(CreatorApiModule.forRoot(config), relaxedTargetSettings(config));
