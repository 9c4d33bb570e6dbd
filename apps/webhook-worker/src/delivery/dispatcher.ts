import { publicId } from '@fulfilment/contracts';
import { BackgroundTask, type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import { AttemptSlots, type Slots } from './attempt-slots.js';
import { mergeIfKnown, type DaySpan } from './day-span.rules.js';
import { deliveryMetrics } from './delivery-metrics.js';
import { DispatchQueue } from './dispatch-queue.js';
import type { DueSubscription } from './lane-queue.js';
import { HostSlots } from './host-slots.js';
import {
  type Lane,
  lanes,
  maxConcurrentAttempts,
  maxConcurrentDeliveries,
  slowThresholdMs,
} from './lanes.rules.js';
import { Lease, type LeasedDelivery } from './lease.js';
import { PostWebhook } from './post-webhook.js';
import { SettlementBatches } from './settlement-batches.js';

/** The running work of this process for a subscription. */
interface Activity {
  /** Number of running attempts. */
  running: number;
  claiming: boolean;
  /** Deliveries became due during the claim, perhaps too late for it, so another batch follows. */
  repeatClaim: boolean;
  /** The days of all due deliveries; undefined while some are unknown, until a claim determines them. */
  days: DaySpan | undefined;
}

/** The attempts that a batch has started. */
interface StartedBatch {
  readonly attempts: readonly Promise<void>[];
  /** The current lane of the subscription. */
  readonly lane: Lane;
  /** Whether more deliveries may be due that could be sent after these. */
  readonly mayHaveMore: boolean;
}

/**
 * Sends the due deliveries of the subscriptions in its queue, in batches: claim, sign, POST, settle. A batch
 * has at most as many attempts as the receiver gets at once. If more deliveries are due, the subscription is
 * queued behind the others. An attempt occupies its slot until it ends, so a receiver that does not respond
 * delays only itself.
 */
@Injectable()
export class Dispatcher extends BackgroundTask {
  private readonly slots: Readonly<Record<Lane, AttemptSlots>> = {
    fast: new AttemptSlots(maxConcurrentAttempts.fast),
    slow: new AttemptSlots(maxConcurrentAttempts.slow),
  };
  private readonly activities = new Map<string, Activity>();
  private readonly batches = new Set<Promise<void>>();

  constructor(
    private readonly queue: DispatchQueue,
    private readonly hosts: HostSlots,
    private readonly lease: Lease,
    private readonly post: PostWebhook,
    private readonly settlements: SettlementBatches,
    @Inject(CONFIG) private readonly config: WebhookWorkerSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  start(): void {
    this.queue.start();
    for (const lane of lanes) void this.runLane(lane);
  }

  /** Starts no more work. Resolves when the running attempts are settled. */
  async stop(): Promise<void> {
    await this.queue.stop();
    await Promise.all(this.batches);
  }

  private async runLane(lane: Lane): Promise<void> {
    for (;;) {
      const slots = await this.slots[lane].take(maxConcurrentDeliveries.healthy);
      const due = await this.queue.next(lane);
      if (due === undefined) return;
      const batch = this.runBatch(due, slots).finally(() => this.batches.delete(batch));
      this.batches.add(batch);
    }
  }

  private async runBatch(due: DueSubscription, slots: Slots): Promise<void> {
    const { subscriptionId } = due;
    const activity = this.activityOf(due);
    if (joinRunningWork(activity)) {
      slots.free(slots.count);
      return;
    }
    try {
      const { attempts, lane, mayHaveMore } = await this.startAttempts(due, activity, slots);
      const ended = Promise.all(attempts);
      const { running } = activity;
      const requeue = (): void => this.queue.requeue([{ subscriptionId, lane, days: activity.days }]);
      // One slow response does not delay the other deliveries of the subscription.
      const isSlow = mayHaveMore && (await takesLongerThan(slowThresholdMs, ended));
      // Fewer attempts are running than at the start, so slots of the subscription are free.
      if (isSlow && activity.running < running) requeue();
      await ended;
      if (mayHaveMore) requeue();
    } catch (error) {
      this.logger.warn(
        { error, subscription_id: publicId('whk', subscriptionId) },
        'Sending the due deliveries of a subscription was interrupted; will retry.',
      );
    }
  }

  /** Claims as many due deliveries as there are slots, and starts their attempts. */
  private async startAttempts(due: DueSubscription, activity: Activity, slots: Slots): Promise<StartedBatch> {
    const { subscriptionId } = due;
    activity.claiming = true;
    activity.repeatClaim = false;
    let used = 0;
    let hostSlots: Slots | undefined;
    try {
      const { running } = activity;
      hostSlots = await this.hosts.take(
        due,
        Math.min(slots.count, maxConcurrentDeliveries.healthy - running),
      );
      if (hostSlots === undefined) return { attempts: [], lane: due.lane, mayHaveMore: false };
      const maxCount = hostSlots.count;
      const claim = await this.lease.claim({ subscriptionId, maxCount, running, days: activity.days });
      const { deliveries, lane = due.lane } = claim;
      if (!activity.repeatClaim) activity.days = claim.days; // else the span has grown since
      used = deliveries.length;
      const [first] = deliveries;
      if (first !== undefined) this.hosts.rememberHost(subscriptionId, first.url);
      const free = (): void => {
        slots.free(1);
        hostSlots?.free(1);
        activity.running -= 1;
        this.deleteIfIdle(subscriptionId, activity);
      };
      const attempts = deliveries.map((delivery) => this.attempt(delivery).finally(free));
      return { attempts, lane, mayHaveMore: claim.mayHaveMore || activity.repeatClaim };
    } finally {
      activity.claiming = false;
      activity.running += used;
      slots.free(slots.count - used);
      hostSlots?.free(hostSlots.count - used);
      this.deleteIfIdle(subscriptionId, activity);
    }
  }

  private activityOf({ subscriptionId, days }: DueSubscription): Activity {
    const existing = this.activities.get(subscriptionId);
    if (existing !== undefined) {
      existing.days = mergeIfKnown(existing.days, days);
      return existing;
    }
    const activity = { running: 0, claiming: false, repeatClaim: false, days };
    this.activities.set(subscriptionId, activity);
    return activity;
  }

  private deleteIfIdle(subscriptionId: string, activity: Activity): void {
    if (!activity.claiming && activity.running === 0) this.activities.delete(subscriptionId);
  }

  private async attempt(delivery: LeasedDelivery): Promise<void> {
    // If this process stalled since the claim, the lease may be too short: another process makes the attempt.
    if (performance.now() + this.config.WEBHOOK_TIMEOUT_MS > delivery.leaseEndsAtMs) return;
    if (delivery.first) {
      deliveryMetrics.eventToFirstAttempt.observe((Date.now() - delivery.occurredAt.getTime()) / 1_000);
    }
    try {
      const exchange = await this.post.run(delivery);
      deliveryMetrics.attemptDuration.observe({ outcome: exchange.outcome }, exchange.durationMs / 1_000);
      if (exchange.isLocalFailure) deliveryMetrics.localFailures.inc({ outcome: exchange.outcome });
      await this.settlements.settle({ delivery, exchange });
    } catch (error) {
      // Does not count against the receiver. When the lease ends, the delivery becomes due again.
      this.logger.error(
        { error, delivery_id: publicId('whd', delivery.id), attempt: delivery.number },
        'The result of an attempt could not be stored.',
      );
    }
  }
}

/**
 * Leaves what has just become due to running work: to the current claim, which is then repeated, or to the
 * batch that follows the maximum number of attempts. Returns false if there is neither.
 */
function joinRunningWork(activity: Activity): boolean {
  if (activity.claiming) activity.repeatClaim = true;
  return activity.claiming || activity.running >= maxConcurrentDeliveries.healthy;
}

function takesLongerThan(limitMs: number, ended: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), limitMs);
    void ended.then(() => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}
