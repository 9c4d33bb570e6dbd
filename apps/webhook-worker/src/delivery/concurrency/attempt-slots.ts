import { countWithinInitialWindow } from './window.rules.js';

/** Slots for concurrent attempts. */
export interface Slots {
  readonly count: number;
  /** Makes slots available to others. */
  free(count: number): void;
}

/**
 * Limits the concurrent attempts of this process in a lane. The slots of a subscription beyond the initial
 * window are extra ones, so a receiver with a large window takes no slot from the others.
 */
export class AttemptSlots {
  private wakeTaker: (() => void) | undefined;

  /**
   * @param available number of free slots of the lane
   * @param extra number of free extra slots
   */
  constructor(
    private available: number,
    private extra = 0,
  ) {}

  /** Resolves when a slot is free. For one taker at a time. */
  async untilFree(): Promise<void> {
    while (this.available === 0) await new Promise<void>((resolve) => (this.wakeTaker = resolve));
  }

  /**
   * Takes up to `maxCount` slots for a subscription with this many running attempts: slots of the lane within
   * the initial window, and extra ones beyond it. Undefined if none of the required kind is free.
   */
  take({ maxCount, running }: { readonly maxCount: number; readonly running: number }): Slots | undefined {
    const withinInitialWindow = countWithinInitialWindow(maxCount, running);
    const taken = Math.min(withinInitialWindow, this.available);
    const extra = Math.min(maxCount - withinInitialWindow, this.extra);
    if (taken + extra === 0) return undefined;
    this.available -= taken;
    this.extra -= extra;
    let remainingOfLane = taken;
    return {
      count: taken + extra,
      free: (freed) => {
        // Slots of the lane first, since other subscriptions wait for them.
        const freedOfLane = Math.min(freed, remainingOfLane);
        remainingOfLane -= freedOfLane;
        this.available += freedOfLane;
        this.extra += freed - freedOfLane;
        this.wakeTaker?.();
      },
    };
  }
}
