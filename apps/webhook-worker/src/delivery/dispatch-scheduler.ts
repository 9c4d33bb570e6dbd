import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { mergeIfKnown, type DaySpan } from './day-span.rules.js';
import { DispatchQueues } from './dispatch-queues.js';
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
}

/** Longer delays are left to the reconciler, which polls PostgreSQL every two seconds. */
const maxTimerMs = 600_000;
/** Deliveries of a subscription that become due in the same bucket share one timer. */
const bucketMs = 100;
const maxTimers = 20_000;

/** Dispatches without a job, in this process: `DirectDispatcher`, which itself depends on the scheduler. */
export interface LocalDispatcher {
  /** Starts subscriptions up to its capacity. @returns the others */
  tryStart(subscriptions: readonly DueSubscription[]): readonly DueSubscription[];
  /** Starts subscriptions of any lane up to its capacity; the reconciler retries the others. */
  start(subscriptions: readonly DueSubscription[]): void;
}

/**
 * Schedules the dispatch of subscriptions: in this process if it has capacity, else as a BullMQ job for any
 * process. While Redis is unreachable, this process dispatches all of them. A wake-up is a hint that may be
 * lost: PostgreSQL has the due deliveries, and the reconciler finds them.
 */
@Injectable()
export class DispatchScheduler {
  private readonly timers = new Map<
    string,
    { readonly timer: NodeJS.Timeout; subscription: DueSubscription }
  >();
  private localDispatcher: LocalDispatcher | undefined;
  private stopping = false;

  constructor(
    private readonly queues: DispatchQueues,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  setLocalDispatcher(localDispatcher: LocalDispatcher): void {
    this.localDispatcher = localDispatcher;
  }

  /**
   * For deliveries that have just become due. Enqueues only subscriptions that this process cannot start at
   * once.
   */
  schedule(due: readonly DueSubscription[]): void {
    if (due.length === 0 || this.stopping) return;
    this.enqueue(this.localDispatcher?.tryStart(due) ?? due);
  }

  /**
   * Enqueues subscriptions behind all others. The days are dropped, since a job sends all that is due when it
   * runs.
   */
  enqueue(due: readonly DueSubscription[]): void {
    if (due.length === 0 || this.stopping) return;
    const subscriptions = due.map(({ subscriptionId, lane }) => ({ subscriptionId, lane }));
    this.queues.add(subscriptions).catch((error: unknown) => {
      this.logger.debug(
        { error },
        'A wake-up could not be sent to Redis; sending the deliveries in this process.',
      );
      this.localDispatcher?.start(subscriptions);
    });
  }

  /** Schedules by a timer of this process. If the timer is lost, the reconciler finds the deliveries. */
  scheduleIn(delayMs: number, due: readonly DueSubscription[]): void {
    if (delayMs <= 0) {
      this.schedule(due);
      return;
    }
    if (delayMs > maxTimerMs || this.stopping) return;
    for (const subscription of due) this.setTimer(delayMs, subscription);
  }

  stop(): void {
    this.stopping = true;
    for (const { timer } of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
  }

  private setTimer(delayMs: number, subscription: DueSubscription): void {
    const bucket = Math.ceil((performance.now() + delayMs) / bucketMs);
    const key = `${subscription.subscriptionId} ${bucket}`;
    const existing = this.timers.get(key);
    if (existing !== undefined) {
      existing.subscription = {
        ...subscription,
        days: mergeIfKnown(existing.subscription.days, subscription.days),
      };
    }
    if (existing !== undefined || this.timers.size >= maxTimers) return;
    const timer = setTimeout(() => this.fire(key), bucket * bucketMs - performance.now());
    this.timers.set(key, { timer, subscription });
  }

  private fire(key: string): void {
    const existing = this.timers.get(key);
    this.timers.delete(key);
    if (existing !== undefined) this.schedule([existing.subscription]);
  }
}
