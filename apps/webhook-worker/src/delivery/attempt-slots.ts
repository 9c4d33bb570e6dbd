/** Slots for concurrent attempts. */
export interface Slots {
  readonly count: number;
  /** Returns slots that are no longer needed. */
  free(count: number): void;
}

/** Limits the concurrent attempts of this process in a lane. */
export class AttemptSlots {
  private wakeTaker: (() => void) | undefined;

  constructor(private available: number) {}

  /** Takes up to `maxCount` slots. Resolves when at least one is free. For one taker at a time. */
  async take(maxCount: number): Promise<Slots> {
    while (this.available === 0) await new Promise<void>((resolve) => (this.wakeTaker = resolve));
    const count = Math.min(maxCount, this.available);
    this.available -= count;
    return {
      count,
      free: (freed) => {
        this.available += freed;
        this.wakeTaker?.();
      },
    };
  }
}
