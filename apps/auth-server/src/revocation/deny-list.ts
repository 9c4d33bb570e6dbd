import { revokedTokenKey } from '@fulfilment/contracts';
import { type Database, statement } from '@fulfilment/database';
import type { RedisConnection } from '@fulfilment/http-service';
import { BackgroundLoop, type Logger } from '@fulfilment/runtime';

/** An access token that ended before its time. */
export interface RevokedToken {
  readonly jti: string;
  readonly expires_at: Date;
}

/** Tells the APIs of access tokens that ended early, once that is committed. */
export type TellRevoked = (tokens: readonly RevokedToken[]) => Promise<void>;

/** How long a revocation may be missing that Redis lost, or that a process did not live to tell. */
const tellAllEveryMs = 30_000;
const pageSize = 1000;
const retryEveryMs = 1_000;
/** Lies in Redis as long as what was told may. */
const toldKey = 'deny-list:told';
const slackSeconds = 10; // APIs accept a token a little after its end, for clocks that differ

const readPage = statement(
  'deny-list.page',
  `SELECT jti, expires_at FROM revoked_tokens WHERE expires_at > now() AND jti > $1 ORDER BY jti LIMIT ${pageSize}`,
);
const forget = statement(
  'deny-list.forget',
  `DELETE FROM revoked_tokens WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM revoked_tokens WHERE expires_at < now() - interval '1 minute' LIMIT ${pageSize}))`,
);

/**
 * Tells every API, by Redis, which access tokens ended early. PostgreSQL holds the truth: all of it is told again at start,
 * whenever Redis was away, until a telling that failed has succeeded, and now and then, since Redis may lose keys without a word.
 */
export class DenyList {
  private behind = true;
  private toldAllAtMs = 0;
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly database: Database,
    private readonly redis: RedisConnection,
    logger: Logger,
  ) {
    redis.client.on('ready', () => this.publishReplay());
    this.loop = new BackgroundLoop({
      name: 'deny-list',
      intervalMs: retryEveryMs,
      logger,
      round: () => this.catchUp(),
    });
  }

  start(): void {
    this.loop.start();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** Tells of tokens whose rows are committed. */
  async tell(tokens: readonly RevokedToken[]): Promise<void> {
    if (tokens.length === 0) return;
    const told = await this.redis.ask('deny-list', (client) =>
      Promise.all(
        tokens.map(({ jti, expires_at }) =>
          client.set(revokedTokenKey(jti), '1', 'EX', restSeconds(expires_at)),
        ),
      ),
    );
    if (told === undefined) this.publishReplay();
  }

  private publishReplay(): void {
    this.behind = true;
    this.loop.wake();
  }

  private async catchUp(): Promise<boolean> {
    if (this.redis.client.status !== 'ready') return false;
    const due = this.behind || performance.now() - this.toldAllAtMs > tellAllEveryMs;
    if (!due && !(await this.wasEmptied())) return false;
    this.behind = false;
    try {
      await this.tellAll();
      this.toldAllAtMs = performance.now();
      await this.redis.ask('deny-list', (client) => client.set(toldKey, '1'));
    } catch (error) {
      this.behind = true;
      throw error;
    }
    return false;
  }

  /** A Redis that was emptied has lost the mark, too. */
  private async wasEmptied(): Promise<boolean> {
    return (await this.redis.ask('deny-list', (client) => client.exists(toldKey))) === 0;
  }

  private async tellAll(): Promise<void> {
    let last = '';
    for (;;) {
      const page = await this.database.rows<{ jti: string; expires_at: Date }>(readPage, [last]);
      await this.tell(page);
      if (page.length < pageSize) return;
      last = page.at(-1)?.jti ?? last;
    }
  }

  /** Forgets tokens that have expired by themselves, a batch at a time. Answers whether there may be more. */
  async prune(): Promise<boolean> {
    return (await this.database.run(forget)) === pageSize;
  }
}

function restSeconds(expiresAt: Date): number {
  return Math.max(1, Math.ceil((expiresAt.getTime() - Date.now()) / 1000) + slackSeconds);
}
