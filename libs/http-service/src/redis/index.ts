export { RedisConnection } from './redis.js';
export { redisOptions } from './redis-options.js';
export { primariesBySentinel, type SentinelReply } from './sentinels.js';
