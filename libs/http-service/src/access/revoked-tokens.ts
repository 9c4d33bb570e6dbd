import { revokedTokenKey } from '@fulfilment/contracts';
import type { RedisConnection } from '../redis.js';

/** Access tokens that were revoked before they expired. While Redis is away every token counts as good, and the outage is logged. */
export class RevokedTokens {
  constructor(private readonly redis: RedisConnection) {}

  async has(tokenId: string): Promise<boolean> {
    const found = await this.redis.ask('revoked-tokens', (client) => client.exists(revokedTokenKey(tokenId)));
    return found === 1;
  }
}
