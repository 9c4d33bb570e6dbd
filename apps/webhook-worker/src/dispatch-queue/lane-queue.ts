import { type DaySpan, mergeIfKnown } from './day-span.rules.js';
import type { Lane } from './lanes.rules.js';

/** A subscription with deliveries that are due, or will be. */
export interface DueSubscription {
  readonly subscriptionId: string;
  readonly lane: Lane;
  /**
   * Days of the due deliveries. Undefined if the caller does not know them; determining them takes one more
   * statement.
   */
  readonly days?: DaySpan | undefined;
  /** Time until the deliveries are due; by default 0. */
  readonly delayMs?: number;
  /** The trace of one of the deliveries. */
  readonly traceparent?: string | null | undefined;
}

interface Entry {
  readonly due: DueSubscription;
  readonly taken: PromiseWithResolvers<void>;
}
type Origin = 'new' | 'continued';

/**
 * The subscriptions of a lane that wait for the dispatcher, each once. Subscriptions with new deliveries
 * alternate with those that continue a backlog, so neither group has to wait for all of the other.
 */
export class LaneQueue {
  private readonly entries: Readonly<Record<Origin, Map<string, Entry>>> = {
    new: new Map(),
    continued: new Map(),
  };
  private next: Origin = 'new';
  private stopped = false;
  private wakeTaker: (() => void) | undefined;

  get size(): number {
    return this.entries.new.size + this.entries.continued.size;
  }

  has(subscriptionId: string): boolean {
    return this.entries.new.has(subscriptionId) || this.entries.continued.has(subscriptionId);
  }

  /** Adds a subscription; if it is waiting already, only its days. Resolves when it is taken. */
  add(due: DueSubscription, origin: Origin): Promise<void> {
    const { subscriptionId: id, lane } = due;
    const entries = Object.values(this.entries).find((waiting) => waiting.has(id)) ?? this.entries[origin];
    const existing = entries.get(id);
    const days = existing === undefined ? due.days : mergeIfKnown(existing.due.days, due.days);
    const taken = existing?.taken ?? Promise.withResolvers<void>();
    entries.set(id, { due: { subscriptionId: id, lane, days }, taken });
    this.wakeTaker?.();
    return taken.promise;
  }

  /** Resolves with the next subscription; undefined after `stop`. For one taker at a time. */
  async take(): Promise<DueSubscription | undefined> {
    while (this.size === 0 && !this.stopped) {
      await new Promise<void>((resolve) => (this.wakeTaker = resolve));
    }
    return this.stopped ? undefined : this.takeFirst();
  }

  /** Ends `take`, and returns what was waiting. */
  stop(): DueSubscription[] {
    this.stopped = true;
    this.wakeTaker?.();
    const waiting: DueSubscription[] = [];
    for (let due = this.takeFirst(); due !== undefined; due = this.takeFirst()) waiting.push(due);
    return waiting;
  }

  private takeFirst(): DueSubscription | undefined {
    const origin = this.entries[this.next].size > 0 ? this.next : other(this.next);
    this.next = other(origin);
    const [first] = this.entries[origin].values();
    if (first === undefined) return undefined;
    this.entries[origin].delete(first.due.subscriptionId);
    first.taken.resolve();
    return first.due;
  }
}

function other(origin: Origin): Origin {
  return origin === 'new' ? 'continued' : 'new';
}
