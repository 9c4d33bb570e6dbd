import { Injectable } from '@nestjs/common';
import { RedisConnection } from '@fulfilment/http-service/redis';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ResponseTimestamps, maxRaceMs } from './reuse.rules.js';
import { storedId } from '../stored-models.rules.js';

/** ARGV: lifetime of the keys in ms, then the times of each key. */
const setAll = `for index, key in ipairs(KEYS) do redis.call('SET', key, ARGV[index + 1], 'PX', ARGV[1]) end`;
const batchDelayMs = 3;
/** How long `find` waits for the timestamps of a response that is being sent; sending takes less. */
const waitTimeoutMs = 500;
const pollIntervalMs = 4;

/**
 * Stores in Redis, for all replicas, when the responses to exchanges and refreshes were sent. The keys expire
 * after a few seconds.
 */
@Injectable()
export class ResponseTimestampStore {
  private pending = new Map<string, string>();

  constructor(private readonly redis: RedisConnection) {}

  /** Records when the response to the request that consumed the token is sent. Call before it is written. */
  recordWhenSent(response: ServerResponse, model: string, token: string): void {
    const startedAtMs = Date.now();
    // The event loop reads the sockets between the first callback and the second.
    const add = () => this.add(keyOf(model, token), startedAtMs);
    response.once('close', () => setImmediate(() => setImmediate(add)));
  }

  /**
   * Returns the timestamps of the response that consumed a token; undefined if they are unknown. Waits
   * briefly for a response that is being sent.
   */
  async find(model: string, token: string): Promise<ResponseTimestamps | undefined> {
    const endsAtMs = Date.now() + waitTimeoutMs;
    do {
      const found = await this.redis.tryCommand('response-timestamps', (client) =>
        client.get(keyOf(model, token)),
      );
      if (found === undefined) return undefined; // Redis is unavailable
      if (found !== null) {
        const [startedAtMs = Number.NaN, sentAtMs = Number.NaN] = found.split(' ').map(Number);
        return { startedAtMs, sentAtMs };
      }
      await sleep(pollIntervalMs);
    } while (Date.now() < endsAtMs);
    return undefined;
  }

  /**
   * Called one turn of the event loop after the response was sent. All requests that were in the sockets of
   * this process when it was sent have now been read. The times of several responses are written in one
   * command, after a delay that is shorter than the wait of `find`.
   */
  private add(key: string, startedAtMs: number): void {
    this.pending.set(key, `${startedAtMs} ${Date.now()}`);
    if (this.pending.size === 1) setTimeout(() => void this.flush(), batchDelayMs);
  }

  private async flush(): Promise<void> {
    const keys = [...this.pending.keys()];
    const times = [...this.pending.values()];
    this.pending = new Map();
    await this.redis.tryCommand('response-timestamps', (client) =>
      client.eval(setAll, keys.length, ...keys, 2 * maxRaceMs, ...times),
    );
  }
}

/** The prefix `answered:` is part of the Redis permissions (libs/contracts/src/permissions.ts). */
function keyOf(model: string, token: string): string {
  return `answered:${model}:${storedId(model, token)}`;
}
