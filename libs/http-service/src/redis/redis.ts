import { Counter, type Logger, type RedisSettings, WarningLimit } from '@fulfilment/runtime';
import { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import { redisOptions } from './redis-options.js';

/** Timeout of a command. Short, since a request waits for it, and then continues without Redis. */
const requestTimeoutMs = 250;
const disconnectTimeoutMs = 200;

const failures = new Counter({
  name: 'redis_fail_open_total',
  help: 'Redis commands that failed or got no response in time; the request continued without Redis.',
  labelNames: ['use'],
});

/** A Redis connection that fails open: a failed command is counted, and the caller continues. */
export class RedisConnection {
  readonly client: Redis;
  private readonly logLimit = new WarningLimit();

  constructor(
    settings: RedisSettings,
    private readonly logger: Logger,
    { commandTimeoutMs = requestTimeoutMs } = {},
  ) {
    this.client = new Redis(settings.REDIS_URL, {
      ...redisOptions(settings),
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: commandTimeoutMs,
      disconnectTimeout: disconnectTimeoutMs,
    });
    this.client.on('error', (error) => this.logFailure(error, 'connection'));
  }

  /** Returns the result of a command; undefined if it fails. @param use label in the metric */
  async tryCommand<Result>(
    use: string,
    command: (client: Redis) => Promise<Result>,
  ): Promise<Result | undefined> {
    try {
      return await command(this.client);
    } catch (error) {
      failures.inc({ use });
      this.logFailure(error, use);
      return undefined;
    }
  }

  /** Closes the connection. The wait has a timeout, since a client that is reconnecting emits no `end`. */
  async stop(): Promise<void> {
    const { client } = this;
    if (client.status === 'end') return;
    const ended = new AbortController();
    client.once('end', () => ended.abort());
    client.disconnect();
    await delay(2 * disconnectTimeoutMs, undefined, { signal: ended.signal }).catch(() => undefined);
  }

  private logFailure(error: unknown, use: string): void {
    if (this.logLimit.allows())
      this.logger.error({ error, use }, 'Redis does not respond; continuing without it.');
  }
}
