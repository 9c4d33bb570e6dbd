import { Gauge } from '@fulfilment/runtime';
import { setTimeout as delay } from 'node:timers/promises';

const pollIntervalMs = 5;
const probeIntervalMs = 250;

const lagBytes = new Gauge({
  name: 'read_replica_lag_bytes',
  help: 'Write-ahead log that the read replica had not replayed when a read last compared it with the primary',
});

/** Positions in the write-ahead log, in bytes. */
export interface WalPositions {
  /** The position of the primary: at or after every commit that it confirmed before the call. */
  primary(): Promise<number | undefined>;
  /** The position up to which the replica shows commits; undefined if the server is not a replica. */
  replayed(): Promise<number | undefined>;
}

/** Finds out whether the replica has every write that was confirmed before a read. */
export class ReplicaLag {
  /** Set while the replica lags: reads do not wait for it, and the first one after this time probes it. */
  private probeAtMs: number | undefined;

  /** @param maxLagMs how long a read waits for the replica */
  constructor(
    private readonly positions: WalPositions,
    private readonly maxLagMs: number,
    private readonly nowMs = () => performance.now(),
  ) {}

  /**
   * Waits until the replica has every write that was confirmed before the call. Returns false if it lags too
   * much or cannot be reached. After that, calls return false at once until a probe has found it current.
   */
  async waitUntilCurrent(): Promise<boolean> {
    if (this.probeAtMs === undefined) {
      const isCurrent = await this.catchesUp();
      if (!isCurrent) this.probeAtMs = this.nowMs() + probeIntervalMs;
      return isCurrent;
    }
    if (this.nowMs() >= this.probeAtMs) {
      this.probeAtMs = this.nowMs() + probeIntervalMs;
      void this.probe();
    }
    return false;
  }

  private async probe(): Promise<void> {
    if (await this.catchesUp()) this.probeAtMs = undefined;
  }

  /** Returns whether the replica replays the confirmed writes within the maximum lag. */
  private async catchesUp(): Promise<boolean> {
    const ended = new AbortController();
    try {
      const timeout = delay(this.maxLagMs, false, { signal: ended.signal });
      return await Promise.race([this.replaysConfirmedWrites(ended.signal), timeout]);
    } catch {
      return false;
    } finally {
      ended.abort();
    }
  }

  private async replaysConfirmedWrites(ended: AbortSignal): Promise<boolean> {
    const [confirmed, first] = await Promise.all([this.positions.primary(), this.positions.replayed()]);
    let replayed = first;
    if (confirmed === undefined || replayed === undefined) return false;
    lagBytes.set(Math.max(0, confirmed - replayed));
    while (replayed < confirmed) {
      await delay(pollIntervalMs, undefined, { signal: ended });
      replayed = (await this.positions.replayed()) ?? 0;
    }
    return true;
  }
}
