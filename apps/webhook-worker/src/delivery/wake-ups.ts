import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { coverIfKnown, type DaySpan } from './day-span.rules.js';
import { DrainQueues } from './drain-queues.js';
import type { Lane } from './lanes.rules.js';

export type { Lane } from './lanes.rules.js';

/** A subscription with something due. */
export interface Sleeper {
  readonly subscriptionId: string;
  readonly lane: Lane;
  /** Where that lies, when who made it due knows: it is taken sooner. Undefined means any days. */
  readonly days?: DaySpan | undefined;
}

/** Later ones are left to the reconciler, which looks at PostgreSQL every two seconds. */
const longestTimerMs = 600_000;
const bucketMs = 100;
const mostTimers = 20_000;

/** The drains of this process. */
export interface DrainsHere {
  /** Begins those there is room for. @returns the others */
  offer(sleepers: readonly Sleeper[]): readonly Sleeper[];
  /** Begins as many as there may ever be; the reconciler comes again for the rest. */
  start(sleepers: readonly Sleeper[]): void;
}

/**
 * Has subscriptions drained: by this process if it has room, else by whoever comes first in BullMQ's queue, and by this one alone while
 * Redis is away. A wake-up is a hint that may be lost: what is due stands in PostgreSQL.
 */
@Injectable()
export class WakeUps {
  private readonly timers = new Map<string, { readonly timer: NodeJS.Timeout; sleeper: Sleeper }>();
  private here: DrainsHere | undefined;
  private stopping = false;

  constructor(
    private readonly queues: DrainQueues,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  drainBy(here: DrainsHere): void {
    this.here = here;
  }

  /** For what has just become due: nobody is told of what can be begun here at once. */
  wake(sleepers: readonly Sleeper[]): void {
    if (sleepers.length === 0 || this.stopping) return;
    this.putInLine(this.here?.offer(sleepers) ?? sleepers);
  }

  /** For what has to wait its turn, behind all others. A job stands for all that is due by then, whatever its days. */
  putInLine(inLine: readonly Sleeper[]): void {
    if (inLine.length === 0 || this.stopping) return;
    const sleepers = inLine.map(({ subscriptionId, lane }) => ({ subscriptionId, lane }));
    this.queues.add(sleepers).catch((error: unknown) => {
      this.logger.debug({ error }, 'Redis took no wake-up; draining here.');
      this.here?.start(sleepers);
    });
  }

  /** Timers of this process; one that is lost is found by the reconciler. */
  wakeIn(delayMs: number, sleepers: readonly Sleeper[]): void {
    if (delayMs <= 0) {
      this.wake(sleepers);
      return;
    }
    if (delayMs > longestTimerMs || this.stopping) return;
    for (const sleeper of sleepers) this.setTimer(delayMs, sleeper);
  }

  stop(): void {
    this.stopping = true;
    for (const { timer } of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
  }

  private setTimer(delayMs: number, sleeper: Sleeper): void {
    const bucket = Math.ceil((performance.now() + delayMs) / bucketMs);
    const key = `${sleeper.subscriptionId} ${bucket}`;
    const set = this.timers.get(key);
    if (set !== undefined) set.sleeper = { ...sleeper, days: coverIfKnown(set.sleeper.days, sleeper.days) };
    if (set !== undefined || this.timers.size >= mostTimers) return;
    const timer = setTimeout(() => this.ring(key), bucket * bucketMs - performance.now());
    this.timers.set(key, { timer, sleeper });
  }

  private ring(key: string): void {
    const set = this.timers.get(key);
    this.timers.delete(key);
    if (set !== undefined) this.wake([set.sleeper]);
  }
}
