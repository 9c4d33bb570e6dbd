import { publicId } from '@fulfilment/contracts';
import { BackgroundTask, type Logger, LOGGER, recordedTrace, resolveWithin } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import { AttemptSlots, type Slots } from './concurrency/attempt-slots.js';
import { mergeIfKnown, type DaySpan } from '../dispatch-queue/day-span.rules.js';
import { deliveryMetrics } from './delivery-metrics.js';
import { DeliveryWindows } from './concurrency/delivery-windows.js';
import { DispatchQueue } from '../dispatch-queue/dispatch-queue.js';
import type { DueSubscription } from '../dispatch-queue/lane-queue.js';
import { HostSlots } from './concurrency/host-slots.js';
import {
  type Lane,
  lanes,
  maxConcurrentAttempts,
  maxExtraAttempts,
  slowThresholdMs,
} from '../dispatch-queue/lanes.rules.js';
import { type ClaimRequest, Lease } from './claiming/lease.js';
import type { LeasedDelivery } from './leased-delivery.js';
import { PostWebhook } from './sending/post-webhook.js';
import { SettlementBatches } from './settlement/settlement-batches.js';
import { mayContinue, type WindowAtStart } from './concurrency/window.rules.js';

/**
 * The running work of this process for a subscription: at most one claim, and the attempts of earlier claims.
 */
interface Activity {
  readonly subscriptionId: string;
  /**
   * `running` from the request for slots of the host until the attempts are started. `outdated` from then on
   * if deliveries became due during the claim, perhaps too late for it: another batch follows.
   */
  claim: 'none' | 'running' | 'outdated';
  /** Number of running attempts: more after a claim, one less when an attempt ends. */
  running: number;
  /** `running` when the attempts of the last claim were started; `mayContinue` compares the two. */
  runningAfterClaim: number;
  /**
   * Set when more deliveries may be due: after a claim, or when no slot is free. Cleared when the
   * subscription is queued, after some of its running attempts have ended.
   */
  continueLater: boolean;
  /** The current lane of the subscription. */
  lane: Lane;
  /** The days of all due deliveries; undefined while some are unknown, until a claim determines them. */
  days: DaySpan | undefined;
}

/**
 * Sends the due deliveries of the subscriptions in its queue, in batches: claim, sign, POST, settle. A batch
 * has at most as many attempts as the receiver gets at once. If more deliveries are due, the subscription is
 * queued behind the others when the attempts have ended (of a large batch, half of them), or after two
 * seconds if one of them has. An attempt occupies its slot until it ends, so a receiver that does not respond
 * delays only itself.
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
    @Inject(DispatchQueue) private readonly queue: Pick<DispatchQueue, 'start' | 'stop' | 'next' | 'requeue'>,
    @Inject(HostSlots) private readonly hosts: Pick<HostSlots, 'take' | 'rememberHost'>,
    private readonly windows: DeliveryWindows,
    @Inject(Lease) private readonly lease: Pick<Lease, 'claim'>,
    @Inject(PostWebhook) private readonly post: Pick<PostWebhook, 'run'>,
    @Inject(SettlementBatches) private readonly settlements: Pick<SettlementBatches, 'settle'>,
    @Inject(CONFIG) private readonly config: Pick<WebhookWorkerSettings, 'WEBHOOK_TIMEOUT_MS'>,
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
    const activity = this.activityOf(due);
    if (activity.claim !== 'none') {
      activity.claim = 'outdated';
      return;
    }
    const slots = this.takeSlots(due.lane, activity);
    if (slots.count === 0) {
      activity.continueLater = true; // when running attempts have ended: without any, it gets a slot
      return;
    }
    try {
      const attempts = await this.startAttempts(due, activity, slots);
      if (attempts.length > 0) await this.continueAfter(attempts, activity);
    } catch (error) {
      this.logger.warn(
        { error, subscription_id: publicId('whk', due.subscriptionId) },
        'Sending the due deliveries of a subscription was interrupted; will retry.',
      );
    }
  }

  /** Takes no slots while the window is full. */
  private takeSlots(lane: Lane, { subscriptionId, running }: Activity): Slots {
    const { size } = this.windows.get(subscriptionId).window;
    return this.slots[lane].take({ maxCount: Math.max(0, size - running), running });
  }

  /** Claims as many due deliveries as there are slots, and starts their attempts. */
  private async startAttempts(
    due: DueSubscription,
    activity: Activity,
    slots: Slots,
  ): Promise<readonly Promise<void>[]> {
    const { running: runningBefore } = activity;
    let hostSlots: Slots | undefined;
    let attempts: readonly Promise<void>[] = [];
    activity.claim = 'running';
    try {
      hostSlots = await this.hosts.take(due, slots.count);
      const deliveries =
        hostSlots === undefined
          ? []
          : await this.claim(due, activity, { maxCount: hostSlots.count, running: runningBefore });
      const [first] = deliveries;
      if (first === undefined) {
        // Attempts that were running before the claim may have left no room below the receiver's limit.
        // The subscription continues when they have ended, or now if they ended during the claim.
        activity.continueLater = runningBefore > 0;
        if (activity.running === 0) this.requeueToContinue(activity);
        return attempts;
      }
      this.hosts.rememberHost(due.subscriptionId, first.url);
      const windowAtStart = this.windowAtStart(first, runningBefore + deliveries.length);
      const end = (): void => {
        slots.free(1);
        hostSlots?.free(1);
        this.endAttempt(activity);
      };
      activity.running += deliveries.length;
      activity.runningAfterClaim = activity.running;
      attempts = deliveries.map((delivery) => this.attempt(delivery, windowAtStart).finally(end));
      return attempts;
    } finally {
      activity.claim = 'none';
      slots.free(slots.count - attempts.length);
      hostSlots?.free(hostSlots.count - attempts.length);
      this.deleteIfIdle(activity);
    }
  }

  /** Claims due deliveries. If there may be more, the subscription is queued now or after the attempts. */
  private async claim(
    due: DueSubscription,
    activity: Activity,
    limits: Pick<ClaimRequest, 'maxCount' | 'running'>,
  ): Promise<readonly LeasedDelivery[]> {
    const { subscriptionId } = due;
    const receiver = this.windows.get(subscriptionId);
    const claim = await this.lease.claim({ ...limits, subscriptionId, receiver, days: activity.days });
    const isOutdated = activity.claim === 'outdated';
    activity.lane = claim.lane ?? due.lane;
    if (!isOutdated) activity.days = claim.days; // otherwise the span has grown during the claim
    if (claim.mayHaveMore || isOutdated) {
      if (claim.deliveries.length > 0) activity.continueLater = true;
      else this.requeue(activity); // no attempt of this claim will queue it
    }
    return claim.deliveries;
  }

  private windowAtStart({ subscriptionId, url }: LeasedDelivery, running: number): WindowAtStart {
    const window = this.windows.afterClaim(subscriptionId, url);
    deliveryMetrics.windowSize.observe(window.size);
    return { reductions: window.reductions, isFull: running >= window.size };
  }

  private endAttempt(activity: Activity): void {
    activity.running -= 1;
    if (mayContinue(activity)) this.requeueToContinue(activity);
    this.deleteIfIdle(activity);
  }

  /** Resolves when the attempts have ended. The subscription is queued then, or earlier if they are slow. */
  private async continueAfter(attempts: readonly Promise<void>[], activity: Activity): Promise<void> {
    const ended = Promise.all(attempts);
    const { running: runningAtStart } = activity;
    // One slow response does not delay the other deliveries of the subscription.
    const isSlow = activity.continueLater && (await takesLongerThan(slowThresholdMs, ended));
    // Fewer attempts are running than at the start, so slots of the subscription are free.
    if (isSlow && activity.running < runningAtStart) this.requeueToContinue(activity);
    await ended;
    this.requeueToContinue(activity);
  }

  private requeueToContinue(activity: Activity): void {
    if (!activity.continueLater) return;
    activity.continueLater = false;
    this.requeue(activity);
  }

  private requeue({ subscriptionId, lane, days }: Activity): void {
    this.queue.requeue([{ subscriptionId, lane, days }]);
  }

  private activityOf({ subscriptionId, lane, days }: DueSubscription): Activity {
    const existing = this.activities.get(subscriptionId);
    if (existing !== undefined) {
      existing.days = mergeIfKnown(existing.days, days);
      return existing;
    }
    const activity: Activity = {
      subscriptionId,
      claim: 'none',
      running: 0,
      runningAfterClaim: 0,
      continueLater: false,
      lane,
      days,
    };
    this.activities.set(subscriptionId, activity);
    return activity;
  }

  private deleteIfIdle({ subscriptionId, claim, running }: Activity): void {
    if (claim === 'none' && running === 0) this.activities.delete(subscriptionId);
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
