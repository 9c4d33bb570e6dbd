export { Cleanup, type CleanupJob } from './cleanup-job.js';
export { runService } from './run-service.js';
export { ServiceModule } from './service.module.js';
export { ServiceLifecycle } from './service-lifecycle.js';
export { DatabasePools } from './database-pools.js';
export { ShardsModule } from './shards.module.js';
