import { publicId } from '@fulfilment/contracts';
import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { DrainSubscription } from './drain-subscription.js';
import { type DueSubscription, type LocalDrains, WakeUps } from './wake-ups.js';

const mostAtATime = 200;

/**
 * Drains without a job of BullMQ: what this process has just made due, which is the shortest way to a receiver; what a lost wake-up left behind;
 * and everything while Redis is away.
 */
@Injectable()
export class DirectDrains implements LocalDrains {
  private readonly running = new Set<Promise<void>>();
  private stopping = false;

  constructor(
    private readonly drain: DrainSubscription,
    private readonly wakeUps: WakeUps,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    wakeUps.drainBy(this);
  }

  /** Begins none of the slow lane: one job for each of those sees to it that a receiver is probed by one process at a time. */
  tryStart(due: readonly DueSubscription[]): readonly DueSubscription[] {
    return due.filter((subscription) => subscription.lane === 'slow' || !this.begin(subscription));
  }

  start(due: readonly DueSubscription[]): void {
    for (const subscription of due) this.begin(subscription);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.running);
  }

  /** Answers whether a turn is begun, or those at work suffice. */
  private begin(due: DueSubscription): boolean {
    if (this.stopping) return false;
    if (this.drain.leaveToTurnsAtWork(due)) return true;
    if (this.running.size >= mostAtATime) return false;
    const run = this.run(due).then(() => {
      this.running.delete(run);
    });
    this.running.add(run);
    return true;
  }

  private async run(due: DueSubscription): Promise<void> {
    try {
      const more = await this.drain.run(due);
      if (more !== undefined) this.wakeUps.enqueue([more]); // behind the others, for any process
    } catch (error) {
      this.logger.warn(
        { error, subscription_id: publicId('whk', due.subscriptionId) },
        'A drain was interrupted; it will be tried again.',
      );
    }
  }
}
