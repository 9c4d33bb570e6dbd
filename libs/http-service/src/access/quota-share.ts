/** A quota of requests in a window of seconds. */
export interface Quota {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** Time for which a replica uses its share before it contacts Redis again. */
const shareLifetimeMs = 100;
/** A reserve is at most a hundredth of the quota, so that the unused permits of all replicas are few. */
const reserveDivisor = 100;

export interface GrantedPermits {
  /** Permits that this replica may use, one for each request. */
  readonly granted: number;
  /** Permits that remain in the caller's bucket, with a fraction, since it refills evenly. */
  readonly remaining: number;
}

export interface PermitRequest {
  /** Permits granted earlier, to return. */
  readonly unused: number;
  /** Permits for waiting requests. */
  readonly needed: number;
  /** Permits to reserve for later requests. */
  readonly reserve: number;
}

/** Returns undefined when Redis did not respond. */
export type TakeFromBucket = (request: PermitRequest) => Promise<GrantedPermits | undefined>;

export interface RateLimitDecision {
  readonly allowed: boolean;
  /** Requests left now. */
  readonly remaining: number;
  /** Seconds until the whole quota is available. */
  readonly resetSeconds: number;
  /** Seconds until the next request is allowed; 0 when one is allowed now. */
  readonly retryAfterSeconds: number;
}

/**
 * This replica's share of one caller's token bucket. For a frequent caller it reserves some permits, so that
 * not every request needs Redis. For a rare caller, or when the quota is almost exhausted, it reserves none.
 * Every permit comes from the bucket in Redis, so that more replicas do not allow more requests.
 */
export class QuotaShare {
  private readonly waiting: ((decision: RateLimitDecision | undefined) => void)[] = [];
  private isTaking = false;
  /** `remaining` when Redis last granted permits. */
  private remainingInBucket = 0;
  /** Permits of this share that can still be used. */
  private unused = 0;
  /** Permits of this share that were used. */
  private used = 0;
  private queriedAtMs = -Infinity;

  constructor(
    private readonly quota: Quota,
    private readonly takeFromBucket: TakeFromBucket,
    private readonly nowMs: () => number,
  ) {}

  /** Takes the permit for one request. Returns undefined when Redis did not respond. */
  take(): Promise<RateLimitDecision | undefined> {
    if (!this.isTaking && this.unused > 0 && this.nowMs() - this.queriedAtMs < shareLifetimeMs) {
      return Promise.resolve(this.usePermit());
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
      const hasResponse = await this.takePermits(needed);
      // Serves the requests for which permits were taken, and as many later ones as the unused permits allow.
      const served = Math.max(needed, Math.min(this.unused, this.waiting.length));
      for (const resolve of this.waiting.splice(0, served))
        resolve(hasResponse ? this.usePermit() : undefined);
    }
    this.isTaking = false;
  }

  /** Exchanges the unused permits for new ones. Returns false when Redis did not respond. */
  private async takePermits(needed: number): Promise<boolean> {
    const reserve = this.computeReserve(needed);
    const { unused } = this;
    this.unused = 0;
    this.used = 0;
    this.queriedAtMs = this.nowMs();
    const taken = await this.takeFromBucket({ unused, needed, reserve });
    if (taken === undefined) return false;
    this.unused = taken.granted;
    this.remainingInBucket = taken.remaining;
    return true;
  }

  /**
   * Returns how many permits to reserve: usually as many as were used of the last share; twice the used and
   * needed ones if the share was exhausted before the end of its lifetime; zero after a pause.
   */
  private computeReserve(needed: number): number {
    const ageMs = this.nowMs() - this.queriedAtMs;
    if (ageMs > 2 * shareLifetimeMs) return 0;
    const isExhaustedEarly = this.unused === 0 && ageMs < shareLifetimeMs;
    const wanted = isExhaustedEarly ? 2 * (this.used + needed) : this.used;
    return Math.min(wanted, Math.floor(this.quota.requests / reserveDivisor));
  }

  /** Uses one permit if there is one, and returns the decision. */
  private usePermit(): RateLimitDecision {
    const { requests, windowSeconds } = this.quota;
    const allowed = this.unused > 0;
    if (allowed) {
      this.unused -= 1;
      this.used += 1;
    }
    const secondsPerPermit = windowSeconds / requests;
    const permits = this.remainingInBucket + this.unused;
    return {
      allowed,
      remaining: Math.floor(permits),
      resetSeconds: Math.ceil((requests - permits) * secondsPerPermit),
      retryAfterSeconds: permits >= 1 ? 0 : Math.ceil((1 - permits) * secondsPerPermit),
    };
  }
}
