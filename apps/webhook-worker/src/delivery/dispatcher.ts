import { publicId } from '@fulfilment/contracts';
import { BackgroundTask, type Logger, LOGGER, resolveWithin } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { AttemptSlots, type Slots } from './concurrency/attempt-slots.js';
import { deliveryMetrics } from './delivery-metrics.js';
import { DeliveryWindows } from './concurrency/delivery-windows.js';
import { DispatchActivity } from './dispatch-activity.js';
import { DispatchQueue } from '../dispatch-queue/dispatch-queue.js';
import type { DueSubscription } from '../dispatch-queue/lane-queue.js';
import { HostSlots } from './concurrency/host-slots.js';
import { slowThresholdMs } from './health/health.rules.js';
import {
  type Lane,
  lanes,
  maxConcurrentAttempts,
  maxAttemptsBeyondInitialWindow,
} from '../dispatch-queue/lanes.rules.js';
import { ClaimDeliveries, type ClaimRequest } from './claiming/claim-deliveries.js';
import type { LeasedDelivery } from './leased-delivery.js';
import { MakeAttempt } from './sending/make-attempt.js';
import type { WindowAtStart } from './concurrency/window.rules.js';

/**
 * Sends the due deliveries of the queued subscriptions in batches: claim, sign, POST, settle. A batch has at
 * most as many attempts as the receiver may get concurrently. If more deliveries are due, the subscription is
 * queued behind the others when the attempts have ended (of a large batch, half of them), or after two
 * seconds if at least one of them has ended by then. An attempt occupies its slot until it ends, so a
 * receiver that does not respond delays only itself.
 */
@Injectable()
export class Dispatcher extends BackgroundTask {
  private readonly slots: Readonly<Record<Lane, AttemptSlots>> = {
    fast: new AttemptSlots(maxConcurrentAttempts.fast, maxAttemptsBeyondInitialWindow),
    slow: new AttemptSlots(maxConcurrentAttempts.slow),
  };
  private readonly activities = new Map<string, DispatchActivity>();
  private readonly batches = new Set<Promise<void>>();

  constructor(
    @Inject(DispatchQueue) private readonly queue: Pick<DispatchQueue, 'start' | 'stop' | 'next' | 'requeue'>,
    @Inject(HostSlots) private readonly hosts: Pick<HostSlots, 'take' | 'rememberHost'>,
    private readonly windows: DeliveryWindows,
    @Inject(ClaimDeliveries) private readonly claimDeliveries: Pick<ClaimDeliveries, 'run'>,
    @Inject(MakeAttempt) private readonly makeAttempt: Pick<MakeAttempt, 'run'>,
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
      await this.slots[lane].untilLaneSlotIsFree();
      const due = await this.queue.next(lane);
      if (due === undefined) return;
      const batch = this.runBatch(due).finally(() => this.batches.delete(batch));
      this.batches.add(batch);
    }
  }

  private async runBatch(due: DueSubscription): Promise<void> {
    const activity = this.activityOf(due);
    const slots = activity.isClaiming ? undefined : this.takeSlots(activity);
    if (slots === undefined) return activity.postpone();
    try {
      const attempts = await this.startAttempts(activity, slots);
      if (attempts.length > 0) await this.continueAfter(attempts, activity);
    } catch (error) {
      activity.postpone();
      this.logger.warn(
        { error, subscription_id: publicId('whk', due.subscriptionId) },
        'Sending the due deliveries of a subscription was interrupted; will retry.',
      );
    }
  }

  /** Takes no slots while the window is full. */
  private takeSlots({ due: { subscriptionId, lane }, running }: DispatchActivity): Slots | undefined {
    const { size } = this.windows.get(subscriptionId).window;
    return this.slots[lane].take({ maxCount: Math.max(0, size - running), running });
  }

  /** Claims as many due deliveries as there are slots, and starts their attempts. */
  private async startAttempts(activity: DispatchActivity, slots: Slots): Promise<readonly Promise<void>[]> {
    const { due, running: runningBefore } = activity;
    let hostSlots: Slots | undefined;
    let attempts: readonly Promise<void>[] = [];
    activity.beginClaim();
    try {
      hostSlots = await this.hosts.take(due, slots.count);
      const deliveries =
        hostSlots === undefined
          ? []
          : await this.claim(activity, { maxCount: hostSlots.count, running: runningBefore });
      const [first] = deliveries;
      if (first === undefined) {
        this.requeue(activity.continueAfterEmptyClaim());
        return attempts;
      }
      this.hosts.rememberHost(due.subscriptionId, first.url);
      const windowAtStart = this.windowAtStart(first, runningBefore + deliveries.length);
      const endAttempt = (): void => {
        slots.free(1);
        hostSlots?.free(1);
        this.requeue(activity.endAttempt());
        this.deleteIfIdle(activity);
      };
      activity.startAttempts(deliveries.length);
      attempts = deliveries.map((delivery) =>
        this.makeAttempt.run(delivery, windowAtStart).finally(endAttempt),
      );
      return attempts;
    } finally {
      activity.endClaim();
      // Frees the slots that no attempt uses.
      slots.free(slots.count - attempts.length);
      hostSlots?.free(hostSlots.count - attempts.length);
      this.deleteIfIdle(activity);
    }
  }

  private async claim(
    activity: DispatchActivity,
    limits: Pick<ClaimRequest, 'maxCount' | 'running'>,
  ): Promise<readonly LeasedDelivery[]> {
    const { subscriptionId, days } = activity.due;
    const receiver = this.windows.get(subscriptionId);
    const claim = await this.claimDeliveries.run({ ...limits, subscriptionId, receiver, days });
    activity.recordClaim(claim);
    return claim.deliveries;
  }

  private windowAtStart({ subscriptionId, url }: LeasedDelivery, running: number): WindowAtStart {
    const window = this.windows.getForUrl(subscriptionId, url);
    deliveryMetrics.windowSize.observe(window.size);
    return { reductions: window.reductions, isFull: running >= window.size };
  }

  /** Resolves when the attempts have ended. The subscription is queued then, or earlier if they are slow. */
  private async continueAfter(attempts: readonly Promise<void>[], activity: DispatchActivity): Promise<void> {
    const ended = Promise.all(attempts);
    const { running: runningAtStart } = activity;
    // One slow response does not delay the other deliveries of the subscription.
    const isSlow = activity.moreDue && (await takesLongerThan(slowThresholdMs, ended));
    // Fewer attempts are running than at the start, so slots of the subscription are free.
    if (isSlow && activity.running < runningAtStart) this.requeue(activity.continueIfMoreDue());
    await ended;
    this.requeue(activity.continueIfMoreDue());
  }

  private requeue(due: DueSubscription | undefined): void {
    if (due !== undefined) this.queue.requeue([due]);
  }

  private activityOf(due: DueSubscription): DispatchActivity {
    const existing = this.activities.get(due.subscriptionId);
    existing?.add(due);
    const activity = existing ?? new DispatchActivity(due);
    this.activities.set(due.subscriptionId, activity);
    return activity;
  }

  private deleteIfIdle({ due, isIdle }: DispatchActivity): void {
    if (isIdle) this.activities.delete(due.subscriptionId);
  }
}

function takesLongerThan(limitMs: number, ended: Promise<unknown>): Promise<boolean> {
  return resolveWithin(
    limitMs,
    ended.then(() => false),
    () => true,
  );
}
