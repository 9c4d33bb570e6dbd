export { openService, type Service } from './open-service.js';
export { migrateService } from './migrate-service.js';
