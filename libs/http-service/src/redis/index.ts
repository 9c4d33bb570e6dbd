export { RedisConnection } from './redis.js';
export { reconnectDelayMs, redisOptions } from './redis-options.js';
export { readPrimaries, type SentinelReply } from './sentinels.js';
