export { RedisConnection } from './redis.js';
export { reconnectDelayMs, redisOptions } from './redis-options.js';
export { primariesBySentinel, type SentinelReply } from './sentinels.js';
