import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { DrainQueues } from './drain-queues.js';
import type { Lane } from './lanes.rules.js';

export type { Lane } from './lanes.rules.js';

/** A subscription with something due. */
export interface Sleeper {
  readonly subscriptionId: string;
  readonly lane: Lane;
}

/** Later ones are left to the reconciler, which looks at PostgreSQL every two seconds. */
const longestTimerMs = 600_000;
const bucketMs = 100;
const mostTimers = 20_000;

/**
 * Tells the workers which subscriptions to drain. A wake-up is a hint that may be lost: what is due stands in PostgreSQL. While Redis is
 * away this process drains by itself.
 */
@Injectable()
export class WakeUps {
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private drainHere: (sleepers: readonly Sleeper[]) => void = () => undefined;
  private stopping = false;

  constructor(
    private readonly queues: DrainQueues,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Who drains when Redis cannot be asked. */
  onRedisAway(drainHere: (sleepers: readonly Sleeper[]) => void): void {
    this.drainHere = drainHere;
  }

  wake(sleepers: readonly Sleeper[]): void {
    if (sleepers.length === 0 || this.stopping) return;
    this.queues.add(sleepers).catch((error: unknown) => {
      this.logger.debug({ error }, 'Redis took no wake-up; draining here.');
      this.drainHere(sleepers);
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
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
  }

  private setTimer(delayMs: number, sleeper: Sleeper): void {
    const bucket = Math.ceil((performance.now() + delayMs) / bucketMs);
    const key = `${sleeper.subscriptionId} ${bucket}`;
    if (this.timers.has(key) || this.timers.size >= mostTimers) return;
    const timer = setTimeout(
      () => {
        this.timers.delete(key);
        this.wake([sleeper]);
      },
      bucket * bucketMs - performance.now(),
    );
    this.timers.set(key, timer);
  }
}
