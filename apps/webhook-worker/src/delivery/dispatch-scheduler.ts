import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { coverIfKnown, type DaySpan } from './day-span.rules.js';
import { DrainQueues } from './drain-queues.js';
import type { Lane } from './lanes.rules.js';

/** A subscription with something due, or that will be. */
export interface DueSubscription {
  readonly subscriptionId: string;
  readonly lane: Lane;
  /** Of what is due. Undefined when whoever made it due does not know them: they are found out, which takes a statement more. */
  readonly days?: DaySpan | undefined;
}

/** What is due later is left to the reconciler, which looks at PostgreSQL every two seconds. */
const longestTimerMs = 600_000;
/** What becomes due of a subscription within it has one timer. */
const bucketMs = 100;
const mostTimers = 20_000;

/** The drains that this process runs without a job (`DirectDrains`, which needs wake-ups itself). */
export interface LocalDrains {
  /** Begins those there is room for. @returns the others */
  tryStart(subscriptions: readonly DueSubscription[]): readonly DueSubscription[];
  /** Begins those there is room for, of any lane; the reconciler comes again for the others. */
  start(subscriptions: readonly DueSubscription[]): void;
}

/**
 * Has subscriptions drained: by this process if it has room, else by whichever takes the job from BullMQ's queue, and by this one alone while
 * Redis is away. A wake-up is a hint that may be lost: PostgreSQL has what is due, and the reconciler finds it there.
 */
@Injectable()
export class WakeUps {
  private readonly timers = new Map<
    string,
    { readonly timer: NodeJS.Timeout; subscription: DueSubscription }
  >();
  private local: LocalDrains | undefined;
  private stopping = false;

  constructor(
    private readonly queues: DrainQueues,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  drainBy(local: LocalDrains): void {
    this.local = local;
  }

  /** For what has just become due. Only what cannot be begun here at once is queued. */
  wake(due: readonly DueSubscription[]): void {
    if (due.length === 0 || this.stopping) return;
    this.enqueue(this.local?.tryStart(due) ?? due);
  }

  /** For what has to wait its turn, behind all others. The days are not told: the job is for all that is due when it runs. */
  enqueue(due: readonly DueSubscription[]): void {
    if (due.length === 0 || this.stopping) return;
    const subscriptions = due.map(({ subscriptionId, lane }) => ({ subscriptionId, lane }));
    this.queues.add(subscriptions).catch((error: unknown) => {
      this.logger.debug({ error }, 'Redis took no wake-up; draining here.');
      this.local?.start(subscriptions);
    });
  }

  /** By a timer of this process. What becomes due after one was lost is found by the reconciler. */
  wakeIn(delayMs: number, due: readonly DueSubscription[]): void {
    if (delayMs <= 0) {
      this.wake(due);
      return;
    }
    if (delayMs > longestTimerMs || this.stopping) return;
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
    const set = this.timers.get(key);
    if (set !== undefined) {
      set.subscription = { ...subscription, days: coverIfKnown(set.subscription.days, subscription.days) };
    }
    if (set !== undefined || this.timers.size >= mostTimers) return;
    const timer = setTimeout(() => this.ring(key), bucket * bucketMs - performance.now());
    this.timers.set(key, { timer, subscription });
  }

  private ring(key: string): void {
    const set = this.timers.get(key);
    this.timers.delete(key);
    if (set !== undefined) this.wake([set.subscription]);
  }
}
