import { revokedTokenKey } from '@fulfilment/contracts';
import { LRUCache } from 'lru-cache';
import type { RedisConnection } from '../redis.js';

const rememberedTokens = 20_000;
/** How long an answer counts, from the question: a fraction of the second after which a revoked token must be refused. */
const trustMs = 100;

interface Answer {
  readonly askedAtMs: number;
  readonly revoked: Promise<boolean>;
}

/** Access tokens that were revoked before they expired. While Redis is away every token counts as good, and the outage is logged. */
export class RevokedTokens {
  private readonly answers = new LRUCache<string, Answer>({ max: rememberedTokens });

  constructor(
    private readonly redis: RedisConnection,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  has(tokenId: string): Promise<boolean> {
    const known = this.answers.get(tokenId);
    const nowMs = this.nowMs();
    if (known !== undefined && nowMs - known.askedAtMs < trustMs) return known.revoked;
    const revoked = this.ask(tokenId);
    this.answers.set(tokenId, { askedAtMs: nowMs, revoked });
    return revoked;
  }

  private async ask(tokenId: string): Promise<boolean> {
    const found = await this.redis.ask('revoked-tokens', (client) => client.exists(revokedTokenKey(tokenId)));
    return found === 1;
  }
}
