import { revokedTokenKey } from '@fulfilment/contracts';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { RedisConnection } from '../redis/redis.js';

const maxCachedResults = 20_000;
/** Maximum age of a cached result: small, since a revoked token must be rejected within a second. */
const cacheMs = 100;

interface CachedResult {
  readonly queriedAtMs: number;
  readonly revoked: Promise<boolean>;
}

/** The deny list of access tokens in Redis. While Redis is down, no token counts as revoked. */
@Injectable()
export class RevokedTokens {
  private readonly results = new LRUCache<string, CachedResult>({ max: maxCachedResults });

  constructor(private readonly redis: RedisConnection) {}

  has(tokenId: string): Promise<boolean> {
    const cached = this.results.get(tokenId);
    const nowMs = performance.now();
    if (cached !== undefined && nowMs - cached.queriedAtMs < cacheMs) return cached.revoked;
    const revoked = this.lookUp(tokenId);
    this.results.set(tokenId, { queriedAtMs: nowMs, revoked });
    return revoked;
  }

  private async lookUp(tokenId: string): Promise<boolean> {
    const count = await this.redis.tryCommand('revoked-tokens', (client) =>
      client.exists(revokedTokenKey(tokenId)),
    );
    return count === 1;
  }
}
