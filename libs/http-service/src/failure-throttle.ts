import { RateLimited } from '@fulfilment/error-envelope';
import { LRUCache } from 'lru-cache';
import type { Quota } from './access/quota-share.js';

/** Beyond this number, the failures of the caller that was seen least recently no longer count. */
const maxCallers = 20_000;

/** The attempts of one caller. */
interface Attempts {
  failures: number;
  /** When the failures no longer count; meaningless without failures. */
  windowEndsAtMs: number;
  running: number;
  /** Resume attempts that wait for a running one. */
  readonly waiting: (() => void)[];
}

/** Limits a caller's failures, per replica. Successes are not counted. */
export class FailureThrottle {
  private readonly callers = new LRUCache<string, Attempts>({ max: maxCallers });

  constructor(
    /** Its `requests` are the failures that a caller may have in a window. */
    private readonly quota: Quota,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /**
   * Runs `work`, and counts a failure if it rejects. While failures and running attempts of the caller
   * together reach the limit, it first waits until one of the attempts has ended.
   * @throws RateLimited while the caller has failed too often
   */
  async attempt<Result>(caller: string, work: () => Promise<Result>): Promise<Result> {
    const attempts = await this.admit(caller);
    try {
      return await work();
    } catch (error) {
      this.countFailure(attempts);
      throw error;
    } finally {
      attempts.running -= 1;
      for (const resume of attempts.waiting.splice(0)) resume();
    }
  }

  /** Waits until another attempt may run, and counts it as running. */
  private async admit(caller: string): Promise<Attempts> {
    for (;;) {
      const attempts = this.findOrCreate(caller);
      if (attempts.failures >= this.quota.requests)
        throw new RateLimited((attempts.windowEndsAtMs - this.nowMs()) / 1_000);
      if (attempts.failures + attempts.running < this.quota.requests) {
        attempts.running += 1;
        return attempts;
      }
      await new Promise<void>((resume) => attempts.waiting.push(resume));
    }
  }

  private findOrCreate(caller: string): Attempts {
    const found = this.callers.get(caller);
    if (found === undefined) {
      const attempts = { failures: 0, windowEndsAtMs: 0, running: 0, waiting: [] };
      this.callers.set(caller, attempts);
      return attempts;
    }
    if (this.nowMs() >= found.windowEndsAtMs) found.failures = 0;
    return found;
  }

  private countFailure(attempts: Attempts): void {
    const nowMs = this.nowMs();
    if (attempts.failures === 0 || nowMs >= attempts.windowEndsAtMs) {
      attempts.failures = 0;
      attempts.windowEndsAtMs = nowMs + this.quota.windowSeconds * 1_000;
    }
    attempts.failures += 1;
  }
}
