import { Inject, Injectable } from '@nestjs/common';
import { revokedTokenKey } from '@fulfilment/contracts';
import { BACKGROUND_DATABASE, type Database, statement } from '@fulfilment/database';
import { RedisConnection } from '@fulfilment/http-service/redis';
import { LOGGER, BackgroundLoop, type Logger } from '@fulfilment/runtime';

/** An access token that was revoked before it expired. */
export interface RevokedToken {
  readonly jti: string;
  readonly expires_at: Date;
}

/** Publishes revoked access tokens to the APIs. Call after the commit. */
export type PublishRevokedTokens = (tokens: readonly RevokedToken[]) => Promise<void>;

/**
 * Time after which a revocation is published again, since Redis may have lost it, or a process may have died
 * before it published it.
 */
const republishIntervalMs = 30_000;
const pageSize = 1000;
const retryIntervalMs = 1_000;
/**
 * Redis key that is set when all revoked tokens were published. It has no expiry, so later it is missing only
 * when Redis lost its data. Its name has an old word for "published", which other releases read.
 */
const publishedKey = 'deny-list:told';
/** A revoked token stays listed longer than it lives: the clocks of the APIs may be behind. */
export const clockSkewSeconds = 10;

const readPage = statement(
  'deny-list.page',
  `SELECT jti, expires_at FROM revoked_tokens WHERE expires_at > now() - interval '${clockSkewSeconds} seconds' AND jti > $1 ORDER BY jti LIMIT ${pageSize}`,
);
// The minute allows for clock differences, as `clockSkewSeconds` does.
const deleteExpired = statement(
  'deny-list.delete-expired',
  `DELETE FROM revoked_tokens WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM revoked_tokens WHERE expires_at < now() - interval '1 minute' LIMIT ${pageSize}))`,
);

/**
 * Publishes revoked access tokens to all APIs through Redis. PostgreSQL is authoritative: all tokens are
 * published again at start, after Redis was unavailable, after a failure until it succeeds, and at intervals,
 * since Redis may lose keys unnoticed.
 */
@Injectable()
export class DenyList extends BackgroundLoop {
  /** When all tokens are published again, by `performance.now()`. */
  private republishAtMs = 0;

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    private readonly redis: RedisConnection,
    @Inject(LOGGER) logger: Logger,
  ) {
    super({ name: 'deny-list', intervalMs: retryIntervalMs, logger, round: () => this.republishIfDue() });
    redis.client.on('ready', () => this.scheduleRepublish());
  }

  /** Publishes revoked tokens whose rows are committed; later, if Redis is unavailable. */
  async publish(tokens: readonly RevokedToken[]): Promise<void> {
    if (!(await this.tryPublish(tokens))) this.scheduleRepublish();
  }

  /** Returns whether Redis accepted all tokens. */
  private async tryPublish(tokens: readonly RevokedToken[]): Promise<boolean> {
    if (tokens.length === 0) return true;
    const published = await this.redis.tryCommand('deny-list', (client) =>
      Promise.all(
        tokens.map(({ jti, expires_at }) =>
          client.set(revokedTokenKey(jti), '1', 'EX', remainingSeconds(expires_at)),
        ),
      ),
    );
    return published !== undefined;
  }

  private scheduleRepublish(): void {
    this.republishAtMs = 0;
    this.wake();
  }

  private async republishIfDue(): Promise<void> {
    if (this.redis.client.status !== 'ready') return;
    if (performance.now() < this.republishAtMs && !(await this.wasEmptied())) return;
    // Set first, so that a concurrent `scheduleRepublish` is not lost.
    this.republishAtMs = performance.now() + republishIntervalMs;
    let isPublished = false;
    try {
      isPublished = await this.publishAll();
    } finally {
      // The next round, after `retryIntervalMs`, repeats it.
      if (!isPublished) this.republishAtMs = 0;
    }
    if (isPublished) await this.redis.tryCommand('deny-list', (client) => client.set(publishedKey, '1'));
  }

  /** A Redis that lost its data also lost `publishedKey`. */
  private async wasEmptied(): Promise<boolean> {
    return (await this.redis.tryCommand('deny-list', (client) => client.exists(publishedKey))) === 0;
  }

  /** Returns false as soon as Redis rejects a page. */
  private async publishAll(): Promise<boolean> {
    let last = '';
    for (;;) {
      const page = await this.database.rows<RevokedToken>(readPage, [last]);
      if (!(await this.tryPublish(page))) return false;
      if (page.length < pageSize) return true;
      last = page.at(-1)?.jti ?? last;
    }
  }

  /** Deletes a batch of expired tokens. Returns their number. */
  deleteExpired(): Promise<number> {
    return this.database.run(deleteExpired);
  }
}

function remainingSeconds(expiresAt: Date): number {
  return Math.max(1, Math.ceil((expiresAt.getTime() - Date.now()) / 1000) + clockSkewSeconds);
}
