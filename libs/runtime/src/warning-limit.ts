/** Allows one warning per interval, for an outage that causes many errors. */
export class WarningLimit {
  private readonly intervalMs: number;
  private nextAtMs = -Infinity;

  constructor(intervalMs = 10_000) {
    this.intervalMs = intervalMs;
  }

  /** Returns whether to log a warning now. */
  allows(): boolean {
    const nowMs = performance.now();
    if (nowMs < this.nextAtMs) return false;
    this.nextAtMs = nowMs + this.intervalMs;
    return true;
  }
}
