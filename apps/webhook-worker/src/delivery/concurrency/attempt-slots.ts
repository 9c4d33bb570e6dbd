import { countWithinInitialWindow } from './window.rules.js';

/** Slots for concurrent attempts. */
export interface Slots {
  readonly count: number;
  /** Makes slots available to others. */
  free(count: number): void;
}

/**
 * Limits the concurrent attempts of this process in a lane. Attempts beyond the initial window of their
 * subscription use extra slots, so that a receiver with a large window takes no slot from the others.
 */
export class AttemptSlots {
  private wakeTaker: (() => void) | undefined;

  constructor(
    private freeOfLane: number,
    private freeExtra = 0,
  ) {}

  /** Resolves when a slot of the lane is free; extra slots do not count. For one taker at a time. */
  async untilLaneSlotIsFree(): Promise<void> {
    while (this.freeOfLane === 0) await new Promise<void>((resolve) => (this.wakeTaker = resolve));
  }

  /**
   * Takes up to `maxCount` slots for a subscription with this many running attempts: slots of the lane within
   * the initial window, and extra ones beyond it. Returns undefined if that gives no slot.
   */
  take({ maxCount, running }: { readonly maxCount: number; readonly running: number }): Slots | undefined {
    const withinInitialWindow = countWithinInitialWindow(maxCount, running);
    const ofLane = Math.min(withinInitialWindow, this.freeOfLane);
    const extra = Math.min(maxCount - withinInitialWindow, this.freeExtra);
    if (ofLane + extra === 0) return undefined;
    this.freeOfLane -= ofLane;
    this.freeExtra -= extra;
    let takenOfLane = ofLane;
    return {
      count: ofLane + extra,
      free: (freed) => {
        // Slots of the lane first, since other subscriptions wait for them.
        const freedOfLane = Math.min(freed, takenOfLane);
        takenOfLane -= freedOfLane;
        this.freeOfLane += freedOfLane;
        this.freeExtra += freed - freedOfLane;
        this.wakeTaker?.();
      },
    };
  }
}
