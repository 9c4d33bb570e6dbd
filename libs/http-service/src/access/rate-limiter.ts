import type { RedisConnection } from '../redis.js';
import type { RateLimitName } from './access-rules.js';

/** A quota of requests in a window of seconds. */
export interface Quota {
  readonly requests: number;
  readonly windowSeconds: number;
}

export type Quotas = Readonly<Record<RateLimitName | 'anonymous', Quota>>;

export interface RateLimitDecision {
  readonly allowed: boolean;
  /** Requests left now. */
  readonly remaining: number;
  /** Until the whole quota is there again. */
  readonly resetSeconds: number;
  /** Until the next request may come; 0 when one may come now. */
  readonly retryAfterSeconds: number;
}

/**
 * Token bucket: holds `capacity`, refills evenly over the window. Redis's clock decides, so replicas agree.
 * Answers {allowed, tokens left, capacity reached in ms, next token in ms}.
 */
const takeToken = `
local capacity = tonumber(ARGV[1])
local window_ms = tonumber(ARGV[2])
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local state = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = tonumber(state[1]) or capacity
local at = tonumber(state[2]) or now_ms
local per_ms = capacity / window_ms
tokens = math.min(capacity, tokens + math.max(0, now_ms - at) * per_ms)
local allowed = 0
if tokens >= 1 then
  tokens = tokens - 1
  allowed = 1
end
redis.call('HSET', KEYS[1], 'tokens', tokens, 'at', now_ms)
redis.call('PEXPIRE', KEYS[1], window_ms)
local next_ms = 0
if tokens < 1 then next_ms = math.ceil((1 - tokens) / per_ms) end
return {allowed, math.floor(tokens), math.ceil((capacity - tokens) / per_ms), next_ms}
`;

/** @typeParam Name the quotas it knows; an API's own, or those of the authorization server */
export class RateLimiter<Name extends string = RateLimitName | 'anonymous'> {
  constructor(
    private readonly redis: RedisConnection,
    private readonly quotas: Readonly<Record<Name, Quota>>,
  ) {
    redis.client.defineCommand('takeToken', { numberOfKeys: 1, lua: takeToken });
  }

  quota(name: Name): Quota {
    return this.quotas[name];
  }

  /** Takes one request from the caller's quota. Undefined while Redis is away: the request goes on. */
  async take(name: Name, who: string): Promise<RateLimitDecision | undefined> {
    const { requests, windowSeconds } = this.quotas[name];
    const answer: unknown = await this.redis.ask('rate-limit', (client) => {
      const command: unknown = Reflect.get(client, 'takeToken');
      if (typeof command !== 'function') throw new Error('The token bucket command is not defined.');
      const called: unknown = command.call(client, `rate:${name}:${who}`, requests, windowSeconds * 1000);
      return Promise.resolve(called);
    });
    if (!Array.isArray(answer)) return undefined;
    const [allowed, remaining, resetMs, nextMs] = answer.map(Number);
    return {
      allowed: allowed === 1,
      remaining: remaining ?? 0,
      resetSeconds: Math.ceil((resetMs ?? 0) / 1000),
      retryAfterSeconds: Math.ceil((nextMs ?? 0) / 1000),
    };
  }

  /** The IETF's RateLimit header fields (draft-ietf-httpapi-ratelimit-headers). */
  headers(name: Name, decision: RateLimitDecision): Record<string, string> {
    const { requests, windowSeconds } = this.quotas[name];
    return {
      'RateLimit-Policy': `"${name}";q=${requests};w=${windowSeconds}`,
      RateLimit: `"${name}";r=${decision.remaining};t=${decision.resetSeconds}`,
    };
  }
}
