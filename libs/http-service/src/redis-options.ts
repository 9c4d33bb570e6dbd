import type { RedisSettings } from '@fulfilment/runtime';
import { Redis, SentinelConnector } from 'ioredis';

const sentinelTimeoutMs = 1_000;
const sentinelReconnectMs = 5_000;

/**
 * Options of ioredis that find the primary, in addition to `REDIS_URL`. After a failover the client connects
 * to the new one: at once when a Sentinel reports it, so also from a primary that no longer responds.
 */
export function redisOptions(settings: RedisSettings) {
  return {
    // Behind a stable name, a primary may become a replica without closing its connections.
    reconnectOnError: (error: Error): boolean => error.message.startsWith('READONLY'),
    ...sentinelOptions(settings),
  };
}

/** Returns undefined if Redis is not found by Sentinels. */
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
 * ioredis handles the errors of its connections to Sentinels, but also writes those of the subscriptions to
 * standard error, which is for log lines in JSON.
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
