import { migrateService } from '@fulfilment/service-host/operator';
import { migrations } from './migrations/index.js';

await migrateService('store-api', migrations);
