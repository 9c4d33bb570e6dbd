/** A quota of requests in a window of seconds. */
export interface Quota {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** How long a replica uses its share before it contacts Redis again. */
const shareLifetimeMs = 100;
/** A share is at most a hundredth of the quota, so that unused shares of replicas stay small. */
const maxSharesPerQuota = 100;

/** Tokens that Redis granted to this replica, and tokens that remain in its bucket. */
export interface Grant {
  readonly requests: number;
  readonly remaining: number;
}

/**
 * @param unused tokens of earlier grants to return
 * @param needed tokens for waiting requests
 * @param reserve tokens to reserve for later requests
 */
export type TakeFromBucket = (unused: number, needed: number, reserve: number) => Promise<Grant | undefined>;

export interface RateLimitDecision {
  readonly allowed: boolean;
  /** Requests left now. */
  readonly remaining: number;
  /** Until the whole quota is available. */
  readonly resetSeconds: number;
  /** Until the next request is allowed; 0 when one is allowed now. */
  readonly retryAfterSeconds: number;
}

/**
 * This replica's share of one caller's token bucket. For a frequent caller it reserves some requests, so that
 * not every request needs Redis. For a rare caller, or when the quota is almost exhausted, it reserves none.
 * All replicas together never allow more than the quota.
 */
export class QuotaShare {
  private readonly waiting: ((decision: RateLimitDecision | undefined) => void)[] = [];
  private isTaking = false;
  /** Tokens in the bucket of Redis after the last grant. */
  private inBucket = 0;
  private unused = 0;
  private used = 0;
  private queriedAtMs = -Infinity;

  constructor(
    private readonly quota: Quota,
    private readonly takeFromBucket: TakeFromBucket,
    private readonly nowMs: () => number,
  ) {}

  /** Returns undefined when Redis did not respond. */
  take(): Promise<RateLimitDecision | undefined> {
    if (!this.isTaking && this.unused > 0 && this.nowMs() - this.queriedAtMs < shareLifetimeMs) {
      return Promise.resolve(this.use());
    }
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (!this.isTaking) {
        this.isTaking = true;
        queueMicrotask(() => void this.serveWaiting());
      }
    });
  }

  private async serveWaiting(): Promise<void> {
    while (this.waiting.length > 0) {
      const needed = this.waiting.length;
      const isAvailable = await this.takeTokens(needed);
      // Also serves requests that arrived during the command, as far as the reserve allows.
      const served = Math.max(needed, Math.min(this.unused, this.waiting.length));
      for (const resolve of this.waiting.splice(0, served)) resolve(isAvailable ? this.use() : undefined);
    }
    this.isTaking = false;
  }

  private async takeTokens(needed: number): Promise<boolean> {
    const [unused, reserve] = [this.unused, this.reserveFor(needed)];
    [this.unused, this.used, this.queriedAtMs] = [0, 0, this.nowMs()];
    const grant = await this.takeFromBucket(unused, needed, reserve);
    if (grant === undefined) return false;
    [this.unused, this.inBucket] = [grant.requests, grant.remaining];
    return true;
  }

  /**
   * As much as the last share used, or twice that if it was exhausted early; nothing after a longer pause.
   */
  private reserveFor(needed: number): number {
    const sinceMs = this.nowMs() - this.queriedAtMs;
    if (sinceMs > 2 * shareLifetimeMs) return 0;
    const isExhaustedEarly = this.unused === 0 && sinceMs < shareLifetimeMs;
    const expected = isExhaustedEarly ? 2 * (this.used + needed) : this.used;
    return Math.min(expected, Math.floor(this.quota.requests / maxSharesPerQuota));
  }

  private use(): RateLimitDecision {
    const { requests, windowSeconds } = this.quota;
    const allowed = this.unused > 0;
    if (allowed) {
      this.unused -= 1;
      this.used += 1;
    }
    const secondsEach = windowSeconds / requests;
    const tokens = this.inBucket + this.unused;
    return {
      allowed,
      remaining: Math.floor(tokens),
      resetSeconds: Math.ceil((requests - tokens) * secondsEach),
      retryAfterSeconds: tokens >= 1 ? 0 : Math.ceil((1 - tokens) * secondsEach),
    };
  }
}
