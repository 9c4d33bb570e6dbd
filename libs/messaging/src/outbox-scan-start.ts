const defaultLagMs = 5_000;
const defaultFullScanMs = 10_000;

export interface OutboxTimes {
  /**
   * For this long after a position was sent, lower positions that commit late are still found without a full
   * scan.
   */
  readonly lagMs?: number;
  readonly fullScanMs?: number;
}

/**
 * The position from which the relay scans the outbox. While an old snapshot lives (pg_dump, a replica with
 * feedback), index entries of deleted messages remain, and a scan from the beginning would read all of them
 * in every round. The start follows the sent positions some seconds behind, because a transaction may commit
 * a lower position later. A regular full scan finds positions that were committed later than that, and those
 * that a crashed replica had locked.
 */
export class OutboxScanStart {
  private start = 0;
  private next = 0;
  private highest = 0;
  private advancedAtMs = performance.now();
  private scannedAtMs = -Infinity;

  constructor(private readonly times: OutboxTimes = {}) {}

  /** Returns the lowest position of the next round. */
  position(): number {
    const { lagMs = defaultLagMs, fullScanMs = defaultFullScanMs } = this.times;
    const nowMs = performance.now();
    if (nowMs - this.advancedAtMs >= lagMs) {
      this.start = this.next;
      this.next = this.highest;
      this.advancedAtMs = nowMs;
    }
    if (nowMs - this.scannedAtMs < fullScanMs) return this.start;
    this.scannedAtMs = nowMs;
    return 0;
  }

  /** @param positions of a batch that was sent, in order */
  advance(positions: readonly number[]): void {
    const [first, last] = [positions[0], positions.at(-1)];
    if (first === undefined || last === undefined) return;
    if (first < this.start) {
      this.start = first; // found by a full scan: positions in between may be waiting as well
      this.next = first;
      this.highest = last;
    } else this.highest = Math.max(this.highest, last);
  }
}
