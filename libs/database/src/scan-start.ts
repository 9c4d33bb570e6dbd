const defaultLagMs = 5_000;
const defaultFullScanMs = 10_000;
/** A full scan takes at most this share of the time. */
const maxFullScanShare = 0.05;

export interface ScanTimes {
  /** Minimum time by which the start follows a handled position, since lower ones may be committed later. */
  readonly lagMs?: number;
  /** Minimum time between full scans. */
  readonly fullScanMs?: number;
}

/**
 * The position, such as a sequence number or a time, from which the rows of a queue in a table are scanned.
 * While an old snapshot lives (pg_dump, a replica with feedback), index entries of handled rows remain, and a
 * scan from the beginning would read all of them in every round. The start follows the handled positions some
 * seconds behind, because a transaction may commit a lower position later. A regular full scan finds
 * positions that were committed later than that, and those that a crashed replica had locked.
 */
export class ScanStart {
  private start = 0;
  /** The highest handled position when the current interval began; the start after this interval. */
  private nextStart = 0;
  /** The highest handled position. */
  private highest = 0;
  private advancedAtMs = performance.now();
  private fullScanDueAtMs = -Infinity;
  private fullScanAllowedAtMs = -Infinity;

  constructor(private readonly times: ScanTimes = {}) {}

  /**
   * Returns the lowest position of the next scan; 0 for a full scan.
   * @param options.preferFull to do a full scan before it is due
   */
  position({ preferFull = false } = {}): number {
    const { lagMs = defaultLagMs, fullScanMs = defaultFullScanMs } = this.times;
    const nowMs = performance.now();
    if (nowMs - this.advancedAtMs >= lagMs) {
      this.start = this.nextStart;
      this.nextStart = this.highest;
      this.advancedAtMs = nowMs;
    }
    const isDue = preferFull || nowMs >= this.fullScanDueAtMs;
    if (!isDue || nowMs < this.fullScanAllowedAtMs) return this.start;
    this.fullScanDueAtMs = nowMs + fullScanMs;
    return 0;
  }

  /** Records the duration of a full scan, and delays the next, so that they take at most 5% of the time. */
  fullScanTook(durationMs: number): void {
    this.fullScanAllowedAtMs = performance.now() + durationMs / maxFullScanShare;
  }

  /** @param positions of a handled batch, ascending */
  advance(positions: readonly number[]): void {
    const [first, last] = [positions[0], positions.at(-1)];
    if (first === undefined || last === undefined) return;
    if (first < this.start) {
      this.start = first; // found by a full scan: positions in between may be waiting as well
      this.nextStart = first;
      this.highest = last;
    } else this.highest = Math.max(this.highest, last);
  }
}
