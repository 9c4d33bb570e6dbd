import { migrateService } from '@fulfilment/service-host';
import { migrations } from './migrations/index.js';

await migrateService('creator-api', migrations);
