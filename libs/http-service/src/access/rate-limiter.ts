import { LRUCache } from 'lru-cache';
import { clientNetwork, widerNetworkFactor } from '../client-network.rules.js';
import type { RedisConnection } from '../redis.js';
import type { RateLimitName } from './access-rules.js';
import { type Given, type Quota, QuotaShare, type RateLimitDecision } from './quota-share.js';

const rememberedCallers = 20_000;

export type Quotas = Readonly<Record<RateLimitName | 'anonymous', Quota>>;

/**
 * Token bucket: holds `capacity`, refills evenly over the window. Redis's clock decides, so replicas agree. It takes back what a replica did
 * not spend, then gives what is asked, and ahead of that at most a tenth of what is there. Answers {requests given, tokens left}.
 */
const giveTokens = `
local capacity = tonumber(ARGV[1])
local window_ms = tonumber(ARGV[2])
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local state = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = tonumber(state[1]) or capacity
local at = tonumber(state[2]) or now_ms
tokens = tokens + math.max(0, now_ms - at) * capacity / window_ms + tonumber(ARGV[3])
tokens = math.min(capacity, tokens)
local wanted = tonumber(ARGV[4]) + math.min(tonumber(ARGV[5]), math.floor(tokens / 10))
local given = math.min(wanted, math.floor(tokens))
tokens = tokens - given
redis.call('HSET', KEYS[1], 'tokens', tokens, 'at', now_ms)
redis.call('PEXPIRE', KEYS[1], window_ms)
return {given, tostring(tokens)}
`;

/** @typeParam Name the quotas it knows; an API's own, or those of the authorization server */
export class RateLimiter<Name extends string = RateLimitName | 'anonymous'> {
  private readonly shares = new LRUCache<string, QuotaShare>({ max: rememberedCallers });

  constructor(
    private readonly redis: RedisConnection,
    private readonly quotas: Readonly<Record<Name, Quota>>,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    redis.client.defineCommand('giveTokens', { numberOfKeys: 1, lua: giveTokens });
  }

  quota(name: Name): Quota {
    return this.quotas[name];
  }

  /** Takes one request from the caller's quota. Undefined while Redis is away: the request goes on. */
  take(name: Name, who: string): Promise<RateLimitDecision | undefined> {
    return this.takeFrom(`rate:${name}:${who}`, this.quotas[name]);
  }

  /** Takes one request from the quota of the client's network, and of the wider network that an IPv6 address is in. */
  async takeByAddress(name: Name, address: string | undefined): Promise<RateLimitDecision | undefined> {
    const { network, widerNetwork } = clientNetwork(address);
    const decision = await this.take(name, network);
    if (widerNetwork === undefined || decision?.allowed === false) return decision;
    const { requests, windowSeconds } = this.quotas[name];
    const wider = await this.takeFrom(`rate:${name}:${widerNetwork}`, {
      requests: requests * widerNetworkFactor,
      windowSeconds,
    });
    return wider?.allowed === false ? wider : decision;
  }

  private takeFrom(key: string, quota: Quota): Promise<RateLimitDecision | undefined> {
    let share = this.shares.get(key);
    if (share === undefined) {
      share = new QuotaShare(quota, (...numbers) => this.ask(key, quota, numbers), this.nowMs);
      this.shares.set(key, share);
    }
    return share.take();
  }

  private async ask(key: string, quota: Quota, numbers: readonly number[]): Promise<Given | undefined> {
    const answer: unknown = await this.redis.ask('rate-limit', (client) => {
      const command: unknown = Reflect.get(client, 'giveTokens');
      if (typeof command !== 'function') throw new Error('The token bucket command is not defined.');
      const called: unknown = command.call(
        client,
        key,
        quota.requests,
        quota.windowSeconds * 1000,
        ...numbers,
      );
      return Promise.resolve(called);
    });
    return Array.isArray(answer) ? { requests: Number(answer[0]), left: Number(answer[1]) } : undefined;
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
