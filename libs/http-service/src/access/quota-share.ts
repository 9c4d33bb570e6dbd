/** A quota of requests in a window of seconds. */
export interface Quota {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** How long a replica spends its share without asking Redis again. */
const trustMs = 100;
/** A share is at most this part of the quota: what replicas hold and do not use is little. */
const partOfQuota = 100;

/** What Redis's bucket gave: this many requests, and how many tokens are in it after that. */
export interface Given {
  readonly requests: number;
  readonly left: number;
}

/** @param back what was given before and is not spent @param asked needed now @param spare wanted beyond that, for requests to come */
export type AskBucket = (back: number, asked: number, spare: number) => Promise<Given | undefined>;

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
 * One caller's bucket as this replica sees it. A caller who asks often is given some requests ahead, so that not each of them asks Redis;
 * one who asks seldom, or whose quota is nearly spent, is given none ahead: replicas together never allow more than the quota.
 */
export class QuotaShare {
  private readonly waiting: ((decision: RateLimitDecision | undefined) => void)[] = [];
  private asking = false;
  /** Tokens in Redis's bucket when it was last asked. */
  private left = 0;
  private unspent = 0;
  private spent = 0;
  private askedAtMs = -Infinity;

  constructor(
    private readonly quota: Quota,
    private readonly ask: AskBucket,
    private readonly nowMs: () => number,
  ) {}

  /** Undefined when Redis did not answer. */
  take(): Promise<RateLimitDecision | undefined> {
    if (!this.asking && this.unspent > 0 && this.nowMs() - this.askedAtMs < trustMs) {
      return Promise.resolve(this.spend());
    }
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (!this.asking) {
        this.asking = true;
        queueMicrotask(() => void this.askForWaiting());
      }
    });
  }

  private async askForWaiting(): Promise<void> {
    while (this.waiting.length > 0) {
      const counted = this.waiting.length;
      const answered = await this.askFor(counted);
      // Those that came meanwhile too, as far as it goes.
      const served = Math.max(counted, Math.min(this.unspent, this.waiting.length));
      for (const resolve of this.waiting.splice(0, served)) resolve(answered ? this.spend() : undefined);
    }
    this.asking = false;
  }

  private async askFor(asked: number): Promise<boolean> {
    const [back, spare] = [this.unspent, this.spareFor(asked)];
    [this.unspent, this.spent, this.askedAtMs] = [0, 0, this.nowMs()];
    const given = await this.ask(back, asked, spare);
    if (given === undefined) return false;
    [this.unspent, this.left] = [given.requests, given.left];
    return true;
  }

  /** As much as the last time was used, twice that when it was used up early; nothing for one who came long ago. */
  private spareFor(asked: number): number {
    const sinceMs = this.nowMs() - this.askedAtMs;
    if (sinceMs > 2 * trustMs) return 0;
    const usual = this.unspent === 0 && sinceMs < trustMs ? 2 * (this.spent + asked) : this.spent;
    return Math.min(usual, Math.floor(this.quota.requests / partOfQuota));
  }

  private spend(): RateLimitDecision {
    const { requests, windowSeconds } = this.quota;
    const allowed = this.unspent > 0;
    if (allowed) {
      this.unspent -= 1;
      this.spent += 1;
    }
    const secondsEach = windowSeconds / requests;
    const tokens = this.left + this.unspent;
    return {
      allowed,
      remaining: Math.floor(tokens),
      resetSeconds: Math.ceil((requests - tokens) * secondsEach),
      retryAfterSeconds: tokens >= 1 ? 0 : Math.ceil((1 - tokens) * secondsEach),
    };
  }
}
