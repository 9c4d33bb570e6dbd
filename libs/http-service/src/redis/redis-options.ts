import type { RedisSettings } from '@fulfilment/runtime';
import { Redis, SentinelConnector } from 'ioredis';

const connectTimeoutMs = 3_000;
const reconnectDelayStepMs = 100;
const maxReconnectDelayMs = 2_000;
const sentinelTimeoutMs = 1_000;
const sentinelReconnectMs = 5_000;
/**
 * Longest pause between checks whether Redis has loaded its data. By default, ioredis waits as long as Redis
 * estimates, up to 10 s. The first estimates of Redis are far too long.
 */
const maxLoadingRetryMs = 100;

/**
 * Options of ioredis for its connection to the primary, in addition to `REDIS_URL`. After a failover the
 * client connects to the new primary: at once if a Sentinel reports it, even if the old one does not respond.
 */
export function redisOptions(settings: RedisSettings) {
  return {
    connectTimeout: connectTimeoutMs,
    retryStrategy: reconnectDelayMs,
    // If `REDIS_URL` is a stable name, its primary may become a replica without closing its connections.
    reconnectOnError: (error: Error): boolean => error.message.startsWith('READONLY'),
    maxLoadingRetryTime: maxLoadingRetryMs,
    ...sentinelOptions(settings),
  };
}

/** @param attempt number of the attempt to reconnect, from 1 */
export function reconnectDelayMs(attempt: number): number {
  return Math.min(reconnectDelayStepMs * attempt, maxReconnectDelayMs);
}

/** Returns undefined without the setting `REDIS_SENTINELS`. */
export function sentinelOptions(settings: RedisSettings) {
  const {
    REDIS_SENTINELS: sentinels,
    REDIS_SENTINEL_MASTER: name = 'mymaster',
    REDIS_SENTINEL_PASSWORD: sentinelPassword,
  } = settings;
  if (sentinels === undefined) return undefined;
  return {
    sentinels: [...sentinels],
    name,
    failoverDetector: true,
    sentinelCommandTimeout: sentinelTimeoutMs,
    sentinelReconnectStrategy: () => sentinelReconnectMs,
    Connector: QuietSentinelConnector,
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(settings.REDIS_URL.startsWith('rediss:') && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  };
}

/**
 * ioredis handles errors of its subscriptions to Sentinels, but also writes them to standard error, which is
 * for log lines in JSON.
 */
class QuietSentinelConnector extends SentinelConnector {
  constructor(options: unknown) {
    super(typeof options === 'object' && options !== null ? options : {});
    const connect: unknown = Reflect.get(this, 'connectToSentinel');
    if (typeof connect !== 'function') throw new Error('ioredis no longer has connectToSentinel.');
    Reflect.set(this, 'connectToSentinel', (...args: unknown[]): unknown => {
      const client: unknown = Reflect.apply(connect, this, args);
      if (client instanceof Redis) client.on('error', () => undefined);
      return client;
    });
  }
}
