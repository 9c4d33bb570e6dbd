export { type CleanupJob, startCleanup } from './cleanup-job.js';
export { openService, type Service } from './open-service.js';
export { migrateService } from './migrate-service.js';
