const defaultLagMs = 5_000;
const defaultFullScanMs = 10_000;

export interface OutboxTimes {
  /** How long after a position was sent a lower one may still be committed without waiting for a full scan. */
  readonly lagMs?: number;
  readonly fullScanMs?: number;
}

/**
 * From which position the relay looks for messages. While an old snapshot lives (pg_dump, a replica with feedback), the entries of deleted
 * messages stay in the index, and a scan from its beginning would walk all of them in every round. The start follows what was sent, some
 * seconds behind, because a transaction may commit a lower position later. A regular full scan finds what took longer than that, and what
 * a replica that died had locked.
 */
export class OutboxStart {
  private start = 0;
  private next = 0;
  private highest = 0;
  private advancedAtMs = performance.now();
  private scannedAtMs = -Infinity;

  constructor(private readonly times: OutboxTimes = {}) {}

  /** The lowest position of the next round. */
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
  sent(positions: readonly number[]): void {
    const [first, last] = [positions[0], positions.at(-1)];
    if (first === undefined || last === undefined) return;
    if (first < this.start) {
      this.start = first; // of a full scan: what lies between may be waiting as well
      this.next = first;
      this.highest = last;
    } else this.highest = Math.max(this.highest, last);
  }
}
