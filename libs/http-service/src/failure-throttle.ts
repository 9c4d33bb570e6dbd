import { RateLimited } from '@fulfilment/error-envelope';
import { LRUCache } from 'lru-cache';
import type { Quota } from './access/quota-share.js';

const rememberedCallers = 20_000;

interface Window {
  readonly endsAtMs: number;
  failures: number;
}

/** Limits how often a caller may fail at something, for each replica. What succeeds is not counted. */
export class FailureThrottle {
  private readonly windows = new LRUCache<string, Window>({ max: rememberedCallers });

  constructor(
    private readonly quota: Quota,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** @throws RateLimited while the caller has failed too often */
  check(who: string): void {
    const window = this.find(who);
    if (window !== undefined && window.failures >= this.quota.requests)
      throw new RateLimited((window.endsAtMs - this.nowMs()) / 1_000);
  }

  add(who: string): void {
    const window = this.find(who);
    if (window !== undefined) window.failures += 1;
    else this.windows.set(who, { endsAtMs: this.nowMs() + this.quota.windowSeconds * 1_000, failures: 1 });
  }

  private find(who: string): Window | undefined {
    const window = this.windows.get(who);
    return window !== undefined && this.nowMs() < window.endsAtMs ? window : undefined;
  }
}
