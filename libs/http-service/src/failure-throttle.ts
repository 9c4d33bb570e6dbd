import { RateLimited } from '@fulfilment/error-envelope';
import { LRUCache } from 'lru-cache';
import type { Quota } from './access/quota-share.js';

/** Beyond this number, the failures of the caller that was seen least recently no longer count. */
const maxCallers = 20_000;

interface Window {
  readonly endsAtMs: number;
  failures: number;
}

/** Limits a caller's failures, per replica. Successes are not counted. */
export class FailureThrottle {
  private readonly windows = new LRUCache<string, Window>({ max: maxCallers });

  constructor(
    /** Its `requests` are the failures that a caller may have in a window. */
    private readonly quota: Quota,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** @throws RateLimited while the caller has failed too often */
  check(caller: string): void {
    const window = this.find(caller);
    if (window !== undefined && window.failures >= this.quota.requests)
      throw new RateLimited((window.endsAtMs - this.nowMs()) / 1_000);
  }

  countFailure(caller: string): void {
    const window = this.find(caller);
    if (window !== undefined) window.failures += 1;
    else this.windows.set(caller, { endsAtMs: this.nowMs() + this.quota.windowSeconds * 1_000, failures: 1 });
  }

  private find(caller: string): Window | undefined {
    const window = this.windows.get(caller);
    return window !== undefined && this.nowMs() < window.endsAtMs ? window : undefined;
  }
}
