import { migrateService } from '@fulfilment/service-host';
import { migrations } from './migrations/index.js';

await migrateService('webhook-worker', migrations);
