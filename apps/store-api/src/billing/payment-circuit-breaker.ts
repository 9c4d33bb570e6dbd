/** Who sends a charge. The completer has priority for the trial of an open circuit. */
export type CircuitUser = 'request' | 'completer';

/** Permission for one charge. */
export interface Permit {
  /** By the clock `now` of the settings. */
  readonly grantedAtMs: number;
  /** Whether the charge tests an open circuit. */
  readonly isTrial: boolean;
}

interface CircuitSettings {
  /** Number of different sources that fail, without a result in between, before the circuit opens. */
  readonly failedSourcesToOpen: number;
  /** Time that an open circuit waits before a trial with one charge. */
  readonly openMs: number;
  /** Monotonic, in ms. */
  readonly now: () => number;
  /** Called when the circuit opens or closes. */
  readonly onChange: (isOpen: boolean) => void;
}

/**
 * Circuit breaker for the payment provider: while it is open, orders stay pending without a charge request.
 * One circuit per process. A failure has a source, so that retries of one charge, or one creator's payment
 * method, count once.
 */
export class PaymentCircuitBreaker {
  /** While the circuit is closed: the sources that have failed since the last result. */
  private readonly failedSources = new Set<string>();
  /** When the circuit opened, or the last trial failed; undefined while it is closed. */
  private openedAtMs: number | undefined;
  /** When the last outage ended. */
  private closedAtMs = -Infinity;
  private trialIsRunning = false;

  constructor(private readonly settings: CircuitSettings) {}

  get isOpen(): boolean {
    return this.openedAtMs !== undefined;
  }

  /** Number of charges that this user may start now, `max` at most. */
  capacity(user: CircuitUser, max: number): number {
    if (this.openedAtMs === undefined) return max;
    // The completer comes first, because the client of a request would wait for the provider's timeout.
    const waitMs = user === 'completer' ? this.settings.openMs : 2 * this.settings.openMs;
    const trialIsDue = !this.trialIsRunning && this.settings.now() - this.openedAtMs >= waitMs;
    return trialIsDue ? Math.min(1, max) : 0;
  }

  /**
   * Returns undefined while the circuit is open and no trial is due. The caller ends each permit with
   * `recordResult`, `recordFailure` or `release`.
   */
  enter(user: CircuitUser): Permit | undefined {
    if (this.capacity(user, 1) === 0) return undefined;
    const isTrial = this.isOpen;
    if (isTrial) this.trialIsRunning = true;
    return { grantedAtMs: this.settings.now(), isTrial };
  }

  /** Ends a permit after the provider responded with a result. Closes an open circuit. */
  recordResult(permit: Permit): void {
    this.release(permit);
    this.failedSources.clear();
    if (this.openedAtMs === undefined) return;
    this.openedAtMs = undefined;
    this.closedAtMs = this.settings.now();
    this.settings.onChange(false);
  }

  /**
   * Ends a permit after the provider failed. Opens the circuit after failures of enough sources.
   * @param source counts once until the next result
   */
  recordFailure(permit: Permit, source: string): void {
    this.release(permit);
    if (permit.grantedAtMs < this.closedAtMs) return; // a late failure of the previous outage
    if (permit.isTrial) this.openedAtMs = this.settings.now(); // the wait restarts
    if (this.isOpen) return;
    this.failedSources.add(source);
    if (this.failedSources.size < this.settings.failedSourcesToOpen) return;
    this.openedAtMs = this.settings.now();
    this.failedSources.clear();
    this.settings.onChange(true);
  }

  /** Ends a permit whose charge says nothing about the provider. */
  release({ isTrial }: Permit): void {
    if (isTrial) this.trialIsRunning = false;
  }
}
