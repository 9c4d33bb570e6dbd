/** The pause after a poll is twice as long as the poll. */
const maxShareOfTime = 1 / 3;

/**
 * Limits the polls of a loop to a third of the time. A poll that reads many index entries of deleted rows,
 * which a long snapshot keeps, becomes rarer instead of using a processor of PostgreSQL.
 */
export class PollLimit {
  private pausedUntilMs = -Infinity;

  get isPaused(): boolean {
    return performance.now() < this.pausedUntilMs;
  }

  /** Allows the next poll at once. Call it after a poll that found as many rows as it may: more are due. */
  reset(): void {
    this.pausedUntilMs = -Infinity;
  }

  /** Runs a poll and measures its duration. */
  async measure<Result>(poll: () => Promise<Result>): Promise<Result> {
    const startedAtMs = performance.now();
    try {
      return await poll();
    } finally {
      const endedAtMs = performance.now();
      const pauseMs = (endedAtMs - startedAtMs) * (1 / maxShareOfTime - 1);
      // The pauses of consecutive polls, such as the pages of a scan, add up.
      this.pausedUntilMs = Math.max(this.pausedUntilMs, endedAtMs) + pauseMs;
    }
  }
}
