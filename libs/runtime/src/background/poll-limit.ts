/** With this share, a loop with an interval of 2 s is not slowed down until a poll takes longer than 1 s. */
const maxShare = 1 / 3;

/**
 * Limits the polls of a loop to a third of the time. A poll that reads many index entries of deleted rows,
 * which a long snapshot keeps, becomes rarer instead of using a processor of PostgreSQL.
 */
export class PollLimit {
  private restsUntilMs = -Infinity;

  /** Whether the last poll took so long that the next one has to wait. */
  get isResting(): boolean {
    return performance.now() < this.restsUntilMs;
  }

  /** Allows the next poll at once. Call after a full poll, since more rows are due. */
  reset(): void {
    this.restsUntilMs = -Infinity;
  }

  /** Runs a poll and measures its duration. */
  async measure<Result>(poll: () => Promise<Result>): Promise<Result> {
    const startedAtMs = performance.now();
    try {
      return await poll();
    } finally {
      const endedAtMs = performance.now();
      const restMs = (endedAtMs - startedAtMs) * (1 / maxShare - 1);
      // Polls that did not rest in between, such as the pages of a scan, rest together after the last one.
      this.restsUntilMs = Math.max(this.restsUntilMs, endedAtMs) + restMs;
    }
  }
}
