import type { Result } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { clientNetwork, widerNetworkFactor } from '../client-network.rules.js';
import type { RedisConnection } from '../redis/redis.js';
import type { RateLimitName } from './access-rules.js';
import {
  type GrantedPermits,
  type PermitRequest,
  type Quota,
  QuotaShare,
  type RateLimitDecision,
} from './quota-share.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** Runs the script below. */
    grantPermits(
      ...args: [
        key: string,
        capacity: number,
        windowMs: number,
        unused: number,
        needed: number,
        reserve: number,
      ]
    ): Result<[granted: number, remaining: string], Context>;
  }
}

/** Beyond this number, the share that was used least recently is dropped, with its unused permits. */
const maxShares = 20_000;

export type Quotas = Readonly<Record<RateLimitName | 'anonymous', Quota>>;

/**
 * Token bucket: holds permits for `capacity` requests and refills evenly over the window, by the clock of
 * Redis, so that replicas agree. Takes back the unused permits of a replica, then grants the needed ones and,
 * as its reserve, at most a tenth of those in the bucket. The field `tokens` has the permits, `at` the time
 * of the last update. Returns {granted permits, remaining permits}.
 */
const grantPermits = `
local capacity = tonumber(ARGV[1])
local window_ms = tonumber(ARGV[2])
local unused = tonumber(ARGV[3])
local needed = tonumber(ARGV[4])
local reserve = tonumber(ARGV[5])
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local state = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local permits = tonumber(state[1]) or capacity
local updated_ms = tonumber(state[2]) or now_ms
local refilled = math.max(0, now_ms - updated_ms) * capacity / window_ms
permits = math.min(capacity, permits + refilled + unused)
local wanted = needed + math.min(reserve, math.floor(permits / 10))
local granted = math.min(wanted, math.floor(permits))
local remaining = permits - granted
redis.call('HSET', KEYS[1], 'tokens', remaining, 'at', now_ms)
redis.call('PEXPIRE', KEYS[1], window_ms)
return {granted, tostring(remaining)}
`;

/**
 * Limits requests by quotas in Redis, which all replicas share.
 * @typeParam Name names of the quotas: those of the APIs, or those of the authorization server
 */
export class RateLimiter<Name extends string = RateLimitName | 'anonymous'> {
  private readonly shares = new LRUCache<string, QuotaShare>({ max: maxShares });

  constructor(
    private readonly redis: RedisConnection,
    private readonly quotas: Readonly<Record<Name, Quota>>,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    redis.client.defineCommand('grantPermits', { numberOfKeys: 1, lua: grantPermits });
  }

  /** Takes a request from the caller's quota. Returns undefined, so no limit, when Redis did not respond. */
  take(name: Name, caller: string): Promise<RateLimitDecision | undefined> {
    return this.takeFrom(`rate:${name}:${caller}`, this.quotas[name]);
  }

  /**
   * Takes one request from the quota of the client's network, and of the wider network that an IPv6 address
   * is in. Returns the decision of a network that rejects the request, or otherwise of the smaller one.
   */
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
      share = new QuotaShare(quota, (wanted) => this.takeFromBucket(key, quota, wanted), this.nowMs);
      this.shares.set(key, share);
    }
    return share.take();
  }

  private async takeFromBucket(
    key: string,
    { requests, windowSeconds }: Quota,
    { unused, needed, reserve }: PermitRequest,
  ): Promise<GrantedPermits | undefined> {
    const reply = await this.redis.tryCommand('rate-limit', (client) =>
      client.grantPermits(key, requests, windowSeconds * 1000, unused, needed, reserve),
    );
    if (reply === undefined) return undefined;
    const [granted, remaining] = reply;
    return { granted, remaining: Number(remaining) };
  }

  /** Returns the IETF's RateLimit header fields (draft-ietf-httpapi-ratelimit-headers). */
  headers(name: Name, decision: RateLimitDecision): Record<string, string> {
    const { requests, windowSeconds } = this.quotas[name];
    return {
      'RateLimit-Policy': `"${name}";q=${requests};w=${windowSeconds}`,
      RateLimit: `"${name}";r=${decision.remaining};t=${decision.resetSeconds}`,
    };
  }
}
