import { publicId } from '@fulfilment/contracts';
import { BackgroundTask, type Logger, LOGGER, recordedTrace, resolveWithin } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import { AttemptSlots, type Slots } from './attempt-slots.js';
import { mergeIfKnown, type DaySpan } from '../dispatch-queue/day-span.rules.js';
import { deliveryMetrics } from './delivery-metrics.js';
import { DeliveryWindows } from './delivery-windows.js';
import { DispatchQueue } from '../dispatch-queue/dispatch-queue.js';
import type { DueSubscription } from '../dispatch-queue/lane-queue.js';
import { HostSlots } from './host-slots.js';
import {
  type Lane,
  lanes,
  maxConcurrentAttempts,
  maxExtraAttempts,
  slowThresholdMs,
} from '../dispatch-queue/lanes.rules.js';
import { Lease, type LeasedDelivery } from './lease.js';
import { PostWebhook } from './post-webhook.js';
import { SettlementBatches } from './settlement-batches.js';
import { mayContinue, type WindowAtStart } from './window.rules.js';

/** The attempts that a batch has started. */
interface StartedBatch {
  readonly attempts: readonly Promise<void>[];
  /** Whether more deliveries may be due. */
  readonly mayHaveMore: boolean;
}

/** The running work of this process for a subscription. */
interface Activity {
  /** Number of running attempts. */
  running: number;
  claiming: boolean;
  /** Deliveries became due during the claim, perhaps too late for it, so another batch follows. */
  repeatClaim: boolean;
  /** Number of running attempts after the last claim. */
  runningAfterClaim: number;
  /** More deliveries may be due that could be sent when some of the running attempts have ended. */
  mayHaveMore: boolean;
  /** The current lane of the subscription. */
  lane: Lane;
  /** The days of all due deliveries; undefined while some are unknown, until a claim determines them. */
  days: DaySpan | undefined;
}

/**
 * Sends the due deliveries of the subscriptions in its queue, in batches: claim, sign, POST, settle. A batch
 * has at most as many attempts as the receiver gets at once. If more deliveries are due, the subscription is
 * queued behind the others when these have ended, or half of them if they are many. An attempt occupies its
 * slot until it ends, so a receiver that does not respond delays only itself.
 */
@Injectable()
export class Dispatcher extends BackgroundTask {
  private readonly slots: Readonly<Record<Lane, AttemptSlots>> = {
    fast: new AttemptSlots(maxConcurrentAttempts.fast, maxExtraAttempts),
    slow: new AttemptSlots(maxConcurrentAttempts.slow),
  };
  private readonly activities = new Map<string, Activity>();
  private readonly batches = new Set<Promise<void>>();

  constructor(
    private readonly queue: DispatchQueue,
    private readonly hosts: HostSlots,
    private readonly windows: DeliveryWindows,
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
      await this.slots[lane].untilFree();
      const due = await this.queue.next(lane);
      if (due === undefined) return;
      const batch = this.runBatch(due).finally(() => this.batches.delete(batch));
      this.batches.add(batch);
    }
  }

  private async runBatch(due: DueSubscription): Promise<void> {
    const { subscriptionId } = due;
    const activity = this.activityOf(due);
    if (activity.claiming) {
      activity.repeatClaim = true;
      return;
    }
    const { size } = this.windows.get(subscriptionId).window;
    const slots = this.slots[due.lane].take(Math.max(0, size - activity.running), activity.running);
    if (slots.count === 0) {
      activity.mayHaveMore = true; // requeued when the running attempts have ended
      return;
    }
    try {
      const { attempts, mayHaveMore } = await this.startAttempts(due, activity, slots);
      if (attempts.length === 0) {
        if (mayHaveMore) this.requeue(subscriptionId, activity);
        // The limit of the receiver may be reached: then the subscription is requeued when its attempts have
        // ended.
        activity.mayHaveMore = activity.running > 0;
        return;
      }
      if (mayHaveMore) activity.mayHaveMore = true;
      const ended = Promise.all(attempts);
      const { running: runningAtStart } = activity;
      // One slow response does not delay the other deliveries of the subscription.
      const isSlow = activity.mayHaveMore && (await takesLongerThan(slowThresholdMs, ended));
      // Fewer attempts are running than at the start, so slots of the subscription are free.
      if (isSlow && activity.running < runningAtStart) this.requeueIfMore(subscriptionId, activity);
      await ended;
      this.requeueIfMore(subscriptionId, activity);
    } catch (error) {
      this.logger.warn(
        { error, subscription_id: publicId('whk', subscriptionId) },
        'Sending the due deliveries of a subscription was interrupted; will retry.',
      );
    }
  }

  /** Queues the subscription if more deliveries may be due. */
  private requeueIfMore(subscriptionId: string, activity: Activity): void {
    if (!activity.mayHaveMore) return;
    activity.mayHaveMore = false;
    this.requeue(subscriptionId, activity);
  }

  private requeue(subscriptionId: string, { lane, days }: Activity): void {
    this.queue.requeue([{ subscriptionId, lane, days }]);
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
      hostSlots = await this.hosts.take(due, slots.count);
      if (hostSlots === undefined) return { attempts: [], mayHaveMore: false };
      const receiver = this.windows.get(subscriptionId);
      const maxCount = hostSlots.count;
      const claim = await this.lease.claim({
        subscriptionId,
        maxCount,
        running,
        receiver,
        days: activity.days,
      });
      const { deliveries, lane = due.lane } = claim;
      activity.lane = lane;
      if (!activity.repeatClaim) activity.days = claim.days; // else the span has grown since
      const mayHaveMore = claim.mayHaveMore || activity.repeatClaim;
      used = deliveries.length;
      activity.running += used;
      const [first] = deliveries;
      if (first === undefined) return { attempts: [], mayHaveMore };
      this.hosts.rememberHost(subscriptionId, first.url);
      const window = this.windows.use(subscriptionId, first.url);
      deliveryMetrics.windowSize.observe(window.size);
      const windowAtStart = { reductions: window.reductions, isFull: running + used >= window.size };
      const free = (): void => {
        slots.free(1);
        hostSlots?.free(1);
        activity.running -= 1;
        if (mayContinue(activity)) this.requeueIfMore(subscriptionId, activity);
        this.deleteIfIdle(subscriptionId, activity);
      };
      return {
        attempts: deliveries.map((delivery) => this.attempt(delivery, windowAtStart).finally(free)),
        mayHaveMore,
      };
    } finally {
      activity.claiming = false;
      if (used > 0) activity.runningAfterClaim = activity.running;
      slots.free(slots.count - used);
      hostSlots?.free(hostSlots.count - used);
      this.deleteIfIdle(subscriptionId, activity);
    }
  }

  private activityOf({ subscriptionId, lane, days }: DueSubscription): Activity {
    const existing = this.activities.get(subscriptionId);
    if (existing !== undefined) {
      existing.days = mergeIfKnown(existing.days, days);
      return existing;
    }
    const activity: Activity = {
      running: 0,
      claiming: false,
      repeatClaim: false,
      runningAfterClaim: 0,
      mayHaveMore: false,
      lane,
      days,
    };
    this.activities.set(subscriptionId, activity);
    return activity;
  }

  private deleteIfIdle(subscriptionId: string, activity: Activity): void {
    if (!activity.claiming && activity.running === 0) this.activities.delete(subscriptionId);
  }

  private async attempt(delivery: LeasedDelivery, windowAtStart: WindowAtStart): Promise<void> {
    // If this process stalled since the claim, the lease may be too short: another process makes the attempt.
    if (performance.now() + this.config.WEBHOOK_TIMEOUT_MS > delivery.leaseEndsAtMs) return;
    if (delivery.isFirst) {
      const seconds = (Date.now() - delivery.occurredAt.getTime()) / 1_000;
      deliveryMetrics.eventToFirstAttempt.observeIn(recordedTrace(delivery.traceparent), {}, seconds);
    }
    try {
      const exchange = await this.post.run(delivery);
      const { outcome, durationMs, span } = exchange;
      deliveryMetrics.attemptDuration.observeIn(span, { outcome }, durationMs / 1_000);
      if (exchange.isLocalFailure) deliveryMetrics.localFailures.inc({ outcome });
      this.windows.record(delivery, windowAtStart, exchange);
      await this.settlements.settle({ delivery, exchange });
    } catch (error) {
      // Does not count against the receiver. When the lease ends, the delivery becomes due again.
      this.logger.error(
        { error, delivery_id: publicId('whd', delivery.id), attempt: delivery.number },
        'An attempt could not be made, or its result not stored.',
      );
    }
  }
}

function takesLongerThan(limitMs: number, ended: Promise<unknown>): Promise<boolean> {
  return resolveWithin(
    limitMs,
    ended.then(() => false),
    () => true,
  );
}
