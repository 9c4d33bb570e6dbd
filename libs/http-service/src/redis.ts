import { Counter, type Logger, metrics } from '@fulfilment/runtime';
import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';

const commandTimeoutMs = 250;
const disconnectTimeoutMs = 200;
const warnEveryMs = 10_000;

const failures = new Counter({
  name: 'redis_fail_open_total',
  help: 'Questions that Redis did not answer in time, so the request went on without.',
  labelNames: ['use'],
  registers: [metrics],
});

/** Redis as a helper that may be away: a question it does not answer at once is answered without it, and alerts. */
export class RedisConnection {
  readonly client: Redis;
  private warnedAtMs = 0;

  constructor(
    url: string,
    private readonly logger: Logger,
  ) {
    this.client = new Redis(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: commandTimeoutMs,
      connectTimeout: 3_000,
      disconnectTimeout: disconnectTimeoutMs,
      retryStrategy: (attempt) => Math.min(100 * attempt, 2_000),
    });
    this.client.on('error', (error) => this.warn(error, 'connection'));
  }

  /** The answer, or undefined when Redis gave none. @param use names the question in the metric */
  async ask<Answer>(use: string, question: (client: Redis) => Promise<Answer>): Promise<Answer | undefined> {
    try {
      return await question(this.client);
    } catch (error) {
      failures.inc({ use });
      this.warn(error, use);
      return undefined;
    }
  }

  /** Resolves when nothing of it is left, no timer either: while it is reconnecting there is no connection to end, and no event. */
  async stop(): Promise<void> {
    const { client } = this;
    if (client.status === 'end') return;
    const waiting = new AbortController();
    client.once('end', () => waiting.abort());
    client.disconnect();
    await sleep(2 * disconnectTimeoutMs, undefined, waiting).catch(() => undefined);
  }

  private warn(error: unknown, use: string): void {
    if (Date.now() - this.warnedAtMs < warnEveryMs) return;
    this.warnedAtMs = Date.now();
    this.logger.error({ error, use }, 'Redis does not answer; going on without it.');
  }
}
