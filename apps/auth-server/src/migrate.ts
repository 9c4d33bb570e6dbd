import { migrateService } from '@fulfilment/service-host';
import { migrations } from './migrations/index.js';

await migrateService('auth-server', migrations);
