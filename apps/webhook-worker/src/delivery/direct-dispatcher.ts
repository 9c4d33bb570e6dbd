import { publicId } from '@fulfilment/contracts';
import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { DispatchSubscription } from './dispatch-subscription.js';
import { type DueSubscription, type LocalDispatcher, DispatchScheduler } from './dispatch-scheduler.js';

const maxConcurrent = 200;

/**
 * Dispatches subscriptions in this process, without a BullMQ job: deliveries that this process has just made
 * due (the shortest path to a receiver), those whose wake-up was lost, and all while Redis is unreachable.
 */
@Injectable()
export class DirectDispatcher implements LocalDispatcher {
  private readonly running = new Set<Promise<void>>();
  private stopping = false;

  constructor(
    private readonly dispatch: DispatchSubscription,
    private readonly scheduler: DispatchScheduler,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    scheduler.setLocalDispatcher(this);
  }

  /** Leaves the slow lane to the BullMQ jobs, so that only one process at a time probes such a receiver. */
  tryStart(due: readonly DueSubscription[]): readonly DueSubscription[] {
    return due.filter((subscription) => subscription.lane === 'slow' || !this.tryStartOne(subscription));
  }

  start(due: readonly DueSubscription[]): void {
    for (const subscription of due) this.tryStartOne(subscription);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.running);
  }

  /** Returns whether a time slice was started, or running ones cover the subscription. */
  private tryStartOne(due: DueSubscription): boolean {
    if (this.stopping) return false;
    if (this.dispatch.coalesceIntoRunning(due)) return true;
    if (this.running.size >= maxConcurrent) return false;
    const run = this.run(due).then(() => {
      this.running.delete(run);
    });
    this.running.add(run);
    return true;
  }

  private async run(due: DueSubscription): Promise<void> {
    try {
      const remaining = await this.dispatch.run(due);
      if (remaining !== undefined) this.scheduler.enqueue([remaining]); // behind the others, for any process
    } catch (error) {
      this.logger.warn(
        { error, subscription_id: publicId('whk', due.subscriptionId) },
        'Sending the due deliveries of a subscription was interrupted; will retry.',
      );
    }
  }
}
