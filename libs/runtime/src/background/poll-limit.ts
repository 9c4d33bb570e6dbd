/** The pause after a poll, as a multiple of its duration. */
const pauseFactor = 2;

/**
 * Limits the polls of a loop to a third of the time. While a long snapshot keeps deleted rows, each poll
 * reads their index entries; without a limit, such slow polls would keep a CPU of PostgreSQL busy.
 */
export class PollLimit {
  private pausedUntilMs = -Infinity;

  /** Whether the caller must skip or delay its next poll. */
  get isPaused(): boolean {
    return this.pauseMs > 0;
  }

  /** The rest of the pause. */
  get pauseMs(): number {
    return Math.max(0, this.pausedUntilMs - performance.now());
  }

  /** Ends the pause. Call it after a poll that returned its maximum number of rows: more may be due. */
  reset(): void {
    this.pausedUntilMs = -Infinity;
  }

  /** Runs a poll. Sets `isPaused` for twice its duration. */
  async run<Result>(poll: () => Promise<Result>): Promise<Result> {
    const startedAtMs = performance.now();
    try {
      return await poll();
    } finally {
      const endedAtMs = performance.now();
      const pauseMs = pauseFactor * (endedAtMs - startedAtMs);
      // The pauses of consecutive polls, such as the pages of a scan, add up.
      this.pausedUntilMs = Math.max(this.pausedUntilMs, endedAtMs) + pauseMs;
    }
  }
}
