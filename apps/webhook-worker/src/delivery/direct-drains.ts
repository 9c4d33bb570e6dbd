import { publicId } from '@fulfilment/contracts';
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
  private readonly running = new Set<Promise<void>>();
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
    await Promise.all(this.running);
  }

  /** Answers whether it is, or was, begun. */
  private begin(sleeper: Sleeper): boolean {
    if (this.stopping) return false;
    if (this.drain.isLookedAfter(sleeper)) return true;
    if (this.running.size >= mostAtATime) return false;
    const run = this.run(sleeper).then(() => {
      this.running.delete(run);
    });
    this.running.add(run);
    return true;
  }

  private async run(sleeper: Sleeper): Promise<void> {
    try {
      const more = await this.drain.run(sleeper);
      if (more !== undefined) this.wakeUps.putInLine([more]); // behind the others, here or elsewhere
    } catch (error) {
      this.logger.warn(
        { error, subscription_id: publicId('whk', sleeper.subscriptionId) },
        'A drain was interrupted; it will be tried again.',
      );
    }
  }
}
