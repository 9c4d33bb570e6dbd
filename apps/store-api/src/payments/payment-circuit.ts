/** Who wants to ask the payment provider: the completer goes first when it may be tried. */
export type CircuitUser = 'request' | 'completer';

/** Leave to ask the provider once. */
export interface Permit {
  readonly sinceMs: number;
  readonly trial: boolean;
}

export interface CircuitSettings {
  /** So many different sources fail, with no response in between, before the circuit opens. */
  readonly failures: number;
  /** How long an open circuit waits before one charge is tried. */
  readonly openMs: number;
  /** Monotonic, in ms. */
  readonly now: () => number;
  readonly onChange: (isOpen: boolean) => void;
}

/**
 * Circuit breaker before the payment provider: while it is open, orders are left pending at once. One process, one circuit.
 * A failure has a source, so that one charge that is retried, or one creator's payment method, does not count many times.
 */
export class PaymentCircuit {
  private readonly sources = new Set<string>();
  private openedAtMs: number | undefined;
  private closedAtMs = -Infinity;
  private trialRuns = false;

  constructor(private readonly settings: CircuitSettings) {}

  get isOpen(): boolean {
    return this.openedAtMs !== undefined;
  }

  /** How many of `most` charges this user may begin now. */
  room(user: CircuitUser, most: number): number {
    if (this.openedAtMs === undefined) return most;
    // A request tries only when the completer has had nothing to try: its caller would wait for the provider's time-out.
    const waitMs = user === 'completer' ? this.settings.openMs : 2 * this.settings.openMs;
    const due = !this.trialRuns && this.settings.now() - this.openedAtMs >= waitMs;
    return due ? Math.min(1, most) : 0;
  }

  /** Undefined while the provider is not to be asked. Every permit is given back: `responded`, `failed` or `abandoned`. */
  enter(user: CircuitUser): Permit | undefined {
    if (this.room(user, 1) === 0) return undefined;
    this.trialRuns = this.isOpen;
    return { sinceMs: this.settings.now(), trial: this.trialRuns };
  }

  /** The provider responded with what it did. */
  responded(permit: Permit): void {
    this.abandoned(permit);
    this.sources.clear();
    if (this.openedAtMs === undefined) return;
    this.openedAtMs = undefined;
    this.closedAtMs = this.settings.now();
    this.settings.onChange(false);
  }

  failed(permit: Permit, source: string): void {
    this.abandoned(permit);
    if (permit.sinceMs < this.closedAtMs) return; // begun in the outage that is over
    if (permit.trial) this.openedAtMs = this.settings.now();
    if (this.isOpen) return;
    this.sources.add(source);
    if (this.sources.size < this.settings.failures) return;
    this.openedAtMs = this.settings.now();
    this.sources.clear();
    this.settings.onChange(true);
  }

  /** Nothing was learnt of the provider. */
  abandoned({ trial }: Permit): void {
    if (trial) this.trialRuns = false;
  }
}
