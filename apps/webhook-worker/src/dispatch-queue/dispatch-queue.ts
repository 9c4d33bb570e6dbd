import type { Transaction } from '@fulfilment/database';
import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { DispatchJobs } from './dispatch-jobs.js';
import { type DueSubscription, LaneQueue } from './lane-queue.js';
import type { Lane } from './lanes.rules.js';

/**
 * Maximum number of subscriptions of a lane that wait in this process; it adds BullMQ jobs for further ones.
 * Subscriptions that come from jobs, or whose jobs Redis does not accept, may exceed it.
 */
export const maxWaiting = 200;
/** Longer delays are left to the reconciler, so that Redis does not store the retries of the next days. */
const maxDelayMs = 600_000;

/**
 * Queues subscriptions that have due deliveries: for the dispatcher of this process or, as BullMQ jobs, for
 * that of any process. An entry is a hint that may be lost: the deliveries are in PostgreSQL, and the
 * reconciler finds them.
 */
@Injectable()
export class DispatchQueue {
  private readonly waiting: Readonly<Record<Lane, LaneQueue>> = {
    fast: new LaneQueue(),
    slow: new LaneQueue(),
  };
  private stopping = false;

  constructor(
    @Inject(DispatchJobs) private readonly jobs: Pick<DispatchJobs, 'start' | 'add' | 'stopWorkers'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  start(): void {
    // A job ends when its subscription is taken. While this process stops, another job replaces it.
    this.jobs.start((due) => (this.stopping ? this.jobs.add([due]) : this.waiting[due.lane].add(due, 'new')));
  }

  /** Queues subscriptions after the commit. Call it in every transaction that makes deliveries due. */
  scheduleAfterCommit(tx: Transaction, due: readonly DueSubscription[]): void {
    if (due.length > 0) tx.afterCommit(() => void this.enqueue(due, 'new'));
  }

  /** Queues subscriptions that may have more due deliveries. They alternate with those that have new ones. */
  requeue(due: readonly DueSubscription[]): void {
    void this.enqueue(due, 'continued');
  }

  /** Resolves with the next subscription of a lane; undefined after `stop`. */
  next(lane: Lane): Promise<DueSubscription | undefined> {
    return this.waiting[lane].take();
  }

  isWaiting({ subscriptionId, lane }: DueSubscription): boolean {
    return this.waiting[lane].has(subscriptionId);
  }

  /** Resolves when the waiting subscriptions are handed over to other processes. */
  async stop(): Promise<void> {
    this.stopping = true;
    const waiting = Object.values(this.waiting).flatMap((lane) => lane.stop());
    await this.enqueue(waiting, 'new');
    await this.jobs.stopWorkers();
  }

  private async enqueue(due: readonly DueSubscription[], origin: 'new' | 'continued'): Promise<void> {
    const jobs: DueSubscription[] = [];
    for (const subscription of due) {
      const { delayMs = 0 } = subscription;
      if (delayMs <= 0 && this.mayWaitHere(subscription))
        void this.waiting[subscription.lane].add(subscription, origin); // not awaited: it resolves when taken
      else if (delayMs <= maxDelayMs) jobs.push(subscription);
    }
    if (jobs.length === 0) return;
    try {
      await this.jobs.add(jobs);
    } catch (error) {
      this.logger.debug(
        { error },
        'Redis did not accept wake-ups; they wait in this process, or for the reconciler.',
      );
      // Subscriptions that are due now wait here beyond the limit. The reconciler finds the others later.
      for (const subscription of jobs)
        if ((subscription.delayMs ?? 0) <= 0) void this.waiting[subscription.lane].add(subscription, origin);
    }
  }

  private mayWaitHere({ subscriptionId, lane }: DueSubscription): boolean {
    const waiting = this.waiting[lane];
    return !this.stopping && (waiting.size < maxWaiting || waiting.has(subscriptionId));
  }
}
