import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { DrainSubscription } from './drain-subscription.js';
import { type DrainsHere, type Sleeper, WakeUps } from './wake-ups.js';

const mostAtATime = 200;

/**
 * Drains without a job of BullMQ: of what this process has just made due, which is the shortest way to a receiver; of what a lost wake-up left
 * behind; and of everything while Redis is away.
 */
@Injectable()
export class DirectDrains implements DrainsHere {
  private readonly running = new Map<string, Promise<void>>();
  /** Woken while they are drained: what came meanwhile may have come too late for it. */
  private readonly again = new Set<string>();
  private stopping = false;

  constructor(
    private readonly drain: DrainSubscription,
    private readonly wakeUps: WakeUps,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    wakeUps.drainBy(this);
  }

  /** Those of the slow lane wait in line: a job for each of them sees to it that one at a time is probed, whatever the number of processes. */
  offer(sleepers: readonly Sleeper[]): readonly Sleeper[] {
    return sleepers.filter((sleeper) => sleeper.lane === 'slow' || !this.begin(sleeper));
  }

  start(sleepers: readonly Sleeper[]): void {
    for (const sleeper of sleepers) this.begin(sleeper);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.running.values());
  }

  /** Answers whether it is, or was, begun. */
  private begin(sleeper: Sleeper): boolean {
    const { subscriptionId } = sleeper;
    if (this.stopping) return false;
    if (this.running.has(subscriptionId)) {
      this.again.add(subscriptionId);
      return true;
    }
    if (this.running.size >= mostAtATime) return false;
    const run = this.run(sleeper).finally(() => this.running.delete(subscriptionId));
    this.running.set(subscriptionId, run);
    return true;
  }

  /** One turn, and another for what came meanwhile. */
  private async run(sleeper: Sleeper): Promise<void> {
    const { subscriptionId } = sleeper;
    try {
      let more: boolean;
      do {
        this.again.delete(subscriptionId);
        more = await this.drain.run(sleeper);
      } while (!more && this.again.has(subscriptionId) && !this.stopping);
      if (more) this.wakeUps.putInLine([sleeper]); // behind the others, here or elsewhere
    } catch (error) {
      this.logger.warn(
        { error, subscription_id: subscriptionId },
        'A drain was interrupted; it will be tried again.',
      );
    } finally {
      this.again.delete(subscriptionId);
    }
  }
}
