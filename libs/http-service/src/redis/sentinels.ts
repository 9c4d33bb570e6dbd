import type { RedisSettings } from '@fulfilment/runtime';
import { Redis } from 'ioredis';
import { sentinelOptions } from './redis-options.js';

const timeoutMs = 2_000;

/** The response of a Sentinel to a request for the primary. */
export interface SentinelReply {
  /** `host:port` */
  readonly sentinel: string;
  /** `host:port`; undefined if the Sentinel does not know the primary, or did not respond (`error`). */
  readonly primary?: string | undefined;
  readonly error?: string;
}

/** Requests the address of the primary from each Sentinel. Returns `[]` without `REDIS_SENTINELS`. */
export async function readPrimaries(settings: RedisSettings): Promise<SentinelReply[]> {
  const options = sentinelOptions(settings);
  if (options === undefined) return [];
  const { sentinels, name, sentinelPassword, sentinelTLS } = options;
  return Promise.all(
    sentinels.map(async ({ host, port }) => {
      const client = new Redis({
        host,
        port,
        connectTimeout: timeoutMs,
        commandTimeout: timeoutMs,
        retryStrategy: () => null,
        enableReadyCheck: false,
        ...(sentinelPassword !== undefined && { password: sentinelPassword }),
        ...(sentinelTLS !== undefined && { tls: sentinelTLS }),
      });
      // The command itself rejects only with "Connection is closed."; the event has the cause.
      let connectionError: Error | undefined;
      client.on('error', (error) => (connectionError = error));
      const sentinel = `${host}:${port}`;
      try {
        const address: unknown = await client.call('SENTINEL', 'get-master-addr-by-name', name);
        return { sentinel, primary: Array.isArray(address) ? address.join(':') : undefined };
      } catch (error) {
        const cause = connectionError ?? error;
        return { sentinel, error: cause instanceof Error ? cause.message : String(cause) };
      } finally {
        client.disconnect();
      }
    }),
  );
}
