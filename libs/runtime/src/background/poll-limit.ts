/** With this share, a loop with an interval of 2 s is not slowed down until a poll takes longer than 1 s. */
const maxShare = 1 / 3;

/**
 * Limits the polls of a loop to a third of the time. A poll that reads many index entries of deleted rows,
 * which a long snapshot keeps, becomes rarer instead of using a processor of PostgreSQL.
 */
export class PollLimit {
  private pausedUntilMs = -Infinity;

  /** Whether the last poll took so long that the next one has to wait. */
  get isPaused(): boolean {
    return performance.now() < this.pausedUntilMs;
  }

  /** Allows the next poll at once. Call after a full poll, since more rows are due. */
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
      const pauseMs = (endedAtMs - startedAtMs) * (1 / maxShare - 1);
      // The pauses of polls without a pause in between, such as the pages of a scan, add up.
      this.pausedUntilMs = Math.max(this.pausedUntilMs, endedAtMs) + pauseMs;
    }
  }
}
