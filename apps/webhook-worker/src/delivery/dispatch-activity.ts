import { mergeIfKnown } from '../dispatch-queue/day-span.rules.js';
import type { DueSubscription } from '../dispatch-queue/lane-queue.js';
import type { Claim } from './claiming/claim-deliveries.js';
import { mayContinue } from './concurrency/window.rules.js';

/**
 * The running work of this process for a subscription: at most one claim, and the attempts of earlier claims.
 * Decides when the subscription continues: if a method returns an entry, the caller must queue it. The fields
 * are changed by the methods only.
 */
export class DispatchActivity {
  /** True from the request for slots of the host until the attempts are started. */
  isClaiming = false;
  /** Number of running attempts. */
  running = 0;
  /** Number of running attempts after the last claim, including those that it started. */
  runningAfterClaim = 0;
  /**
   * Whether deliveries may be due that the last claim did not take, or that became due during the current
   * one. The subscription continues when some of its attempts have ended.
   */
  moreDue = false;
  private runningBeforeClaim = 0;

  /** @param due the entry with which the subscription continues, with the known days of due deliveries */
  constructor(public due: DueSubscription) {}

  get isIdle(): boolean {
    return !this.isClaiming && this.running === 0;
  }

  /** Merges a further entry of the queue. */
  add(due: DueSubscription): void {
    this.due = { ...due, days: mergeIfKnown(this.due.days, due.days) };
  }

  /**
   * Makes the subscription continue at the end of the running claim or attempts. If none is running, the
   * reconciler finds it.
   */
  postpone(): void {
    this.moreDue = true;
  }

  beginClaim(): void {
    this.isClaiming = true;
    this.moreDue = false;
    this.runningBeforeClaim = this.running;
  }

  /** Call with the result of the claim. */
  recordClaim(claim: Claim): void {
    const { subscriptionId, lane, days } = this.due;
    // `moreDue` is true if an entry was added during the claim: its days remain to be searched.
    const nextDays = this.moreDue ? days : claim.days;
    this.due = { subscriptionId, lane: claim.lane ?? lane, days: nextDays };
    this.moreDue ||= claim.moreDue;
  }

  startAttempts(count: number): void {
    this.running += count;
    this.runningAfterClaim = this.running;
  }

  endClaim(): void {
    this.isClaiming = false;
  }

  /** Call if nothing was claimed. */
  continueAfterEmptyClaim(): DueSubscription | undefined {
    // Without running attempts, no end of an attempt would continue the subscription.
    const mayContinueNow = this.moreDue || this.running === 0;
    // Attempts that were running before the claim may have left no room below the receiver's limit.
    this.moreDue ||= this.runningBeforeClaim > 0;
    return mayContinueNow ? this.continueIfMoreDue() : undefined;
  }

  endAttempt(): DueSubscription | undefined {
    this.running -= 1;
    return mayContinue(this) ? this.continueIfMoreDue() : undefined;
  }

  continueIfMoreDue(): DueSubscription | undefined {
    if (!this.moreDue) return undefined;
    this.moreDue = false;
    return this.due;
  }
}
