import { readConfig } from '@fulfilment/runtime';
import { runService } from '@fulfilment/service-host';
import { relaxedStoreApiSettings, storeApiSettings } from './config.js';
import { StoreApiModule } from './store-api.module.js';

const config = readConfig(storeApiSettings);
await runService(StoreApiModule.forRoot(config), relaxedStoreApiSettings(config));
