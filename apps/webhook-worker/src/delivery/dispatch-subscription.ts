import { publicId } from '@fulfilment/contracts';
import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import { mergeIfKnown, type DaySpan } from './day-span.rules.js';
import { deliveryMetrics } from './delivery-metrics.js';
import { HostSlots, type Slots } from './host-slots.js';
import { maxConcurrentDeliveries, type Lane, slowThresholdMs } from './lanes.rules.js';
import { type Claim, Lease, type LeasedDelivery } from './lease.js';
import { PostWebhook } from './post-webhook.js';
import { SettlementBatches } from './settlement-batches.js';
import { type DueSubscription, DispatchScheduler } from './dispatch-scheduler.js';

/** Limits of a time slice. After either, the subscription is queued again, behind the others. */
const maxSliceDeliveries = 64;
const maxSliceMs = 5_000;

/**
 * Maximum number of attempts that outlast their time slice. Each holds a connection, and its body in memory.
 */
const maxBackgroundAttempts = 2_000;

/** The running work of this process for a subscription. */
interface Activity {
  /** Number of running time slices. */
  slices: number;
  /** Number of running attempts, including background attempts. */
  running: number;
  /** Whether one of the time slices is claiming. */
  claiming: boolean;
  /** Deliveries became due during the claim, perhaps too late for it, so it is repeated. */
  repeatClaim: boolean;
  /**
   * The days of all due deliveries; undefined while some of them are unknown, until a claim determines them.
   */
  days: DaySpan | undefined;
}

/** A claim with its host slots; `slots` is undefined when the host had none left. */
interface ClaimWithSlots extends Claim {
  readonly slots: Slots | undefined;
}

interface SendResult {
  readonly lane: Lane;
  /** Whether more deliveries may be due that could be sent now. */
  readonly more: boolean;
}

/**
 * Sends the due deliveries of a subscription in time slices: claim → sign → POST → settle, until nothing is
 * due or the slice is over. All time slices of a process together never exceed the receiver's limit of
 * concurrent attempts. A slice does not wait for a receiver that does not respond, since other subscriptions
 * need its place: the attempts continue in the background.
 */
@Injectable()
export class DispatchSubscription {
  private readonly activities = new Map<string, Activity>();
  private readonly backgroundBatches = new Set<Promise<void>>();
  private backgroundAttempts = 0;
  private stopping = false;

  constructor(
    private readonly lease: Lease,
    private readonly post: PostWebhook,
    private readonly settlements: SettlementBatches,
    private readonly hosts: HostSlots,
    private readonly scheduler: DispatchScheduler,
    @Inject(CONFIG) private readonly config: WebhookWorkerSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Runs one time slice. Returns the subscription, with its current lane, if more may be due and it must be
   * queued again.
   */
  async run(due: DueSubscription): Promise<DueSubscription | undefined> {
    if (this.stopping || this.coalesceIntoRunning(due)) return undefined;
    const { subscriptionId, days } = due;
    const activity = this.activities.get(subscriptionId) ?? {
      slices: 0,
      running: 0,
      claiming: false,
      repeatClaim: false,
      days,
    };
    this.activities.set(subscriptionId, activity);
    activity.slices += 1;
    try {
      return await this.runSlice(due, activity);
    } finally {
      activity.slices -= 1;
      this.deleteIfIdle(subscriptionId, activity);
    }
  }

  /**
   * Adds the days of newly due deliveries to the search of the running time slices. Returns true if these
   * will send them: one is claiming (and will repeat its claim), or all eight attempts are running. Otherwise
   * the caller must start another time slice.
   */
  coalesceIntoRunning({ subscriptionId, days }: DueSubscription): boolean {
    const activity = this.activities.get(subscriptionId);
    if (activity === undefined) return false;
    activity.days = mergeIfKnown(activity.days, days);
    return coalesceIntoActivity(activity);
  }

  private async runSlice(due: DueSubscription, activity: Activity): Promise<DueSubscription | undefined> {
    const endsAtMs = performance.now() + maxSliceMs;
    for (let sent = 0; ;) {
      const claim = await this.claim(due, activity);
      const { lane, more } = await this.send(due, claim);
      if (!more) return undefined;
      sent += claim.deliveries.length;
      const isOver = sent >= maxSliceDeliveries || performance.now() > endsAtMs;
      if (isOver || lane !== due.lane) return { ...due, lane };
      if (this.stopping || coalesceIntoActivity(activity)) return undefined;
    }
  }

  /** Starts no more work. Resolves when the background attempts have ended. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.backgroundBatches);
  }

  /** Takes host slots and claims due deliveries; frees unused slots. */
  private async claim(due: DueSubscription, activity: Activity): Promise<ClaimWithSlots> {
    const { subscriptionId, lane } = due;
    activity.claiming = true;
    activity.repeatClaim = false;
    let used = 0;
    let slots: Slots | undefined;
    try {
      slots = await this.hosts.take(due, maxConcurrentDeliveries.healthy - activity.running);
      if (slots === undefined) return { deliveries: [], mayHaveMore: false, lane, days: undefined, slots };
      const { running, days } = activity;
      const claim = await this.lease.claim({ subscriptionId, maxCount: slots.count, running, days });
      if (!activity.repeatClaim) activity.days = claim.days; // else the span has grown since
      const [first] = claim.deliveries;
      if (first !== undefined) this.hosts.rememberHost(subscriptionId, first.url);
      used = claim.deliveries.length;
      return { ...claim, mayHaveMore: claim.mayHaveMore || activity.repeatClaim, slots };
    } finally {
      activity.claiming = false;
      activity.running += used;
      slots?.free(slots.count - used);
    }
  }

  private async send(
    due: DueSubscription,
    { deliveries, mayHaveMore, lane = due.lane, slots }: ClaimWithSlots,
  ): Promise<SendResult> {
    if (deliveries.length === 0) return { lane, more: mayHaveMore };
    const sending = deliveries.map((delivery) =>
      this.attempt(delivery).finally(() => {
        slots?.free(1);
        this.endAttempt(delivery.subscriptionId);
      }),
    );
    const ended = Promise.all(sending).then(() => undefined);
    if (!(await takesLongerThan(slowThresholdMs, ended))) return { lane, more: mayHaveMore };
    if (this.stopping || this.backgroundAttempts + deliveries.length > maxBackgroundAttempts) {
      await ended;
      return { lane, more: true };
    }
    this.continueInBackground({ ...due, lane }, ended, deliveries.length);
    return { lane, more: false };
  }

  /** Lets running attempts outlast their time slice. */
  private continueInBackground(due: DueSubscription, ended: Promise<void>, count: number): void {
    this.backgroundAttempts += count;
    const batch = ended.then(() => {
      this.backgroundAttempts -= count;
      this.backgroundBatches.delete(batch);
      this.scheduler.enqueue([due]); // for deliveries that became due since
    });
    this.backgroundBatches.add(batch);
  }

  private endAttempt(subscriptionId: string): void {
    const activity = this.activities.get(subscriptionId);
    if (activity === undefined) return;
    activity.running -= 1;
    this.deleteIfIdle(subscriptionId, activity);
  }

  private deleteIfIdle(subscriptionId: string, activity: Activity): void {
    if (activity.slices === 0 && activity.running === 0) this.activities.delete(subscriptionId);
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
 * Leaves due deliveries to a running time slice: to one that is claiming, which then repeats its claim, or,
 * if the maximum number of attempts is running, to the one that continues after them. Returns whether there
 * is one.
 */
function coalesceIntoActivity(activity: Activity): boolean {
  if (activity.claiming) activity.repeatClaim = true;
  return activity.claiming || activity.running >= maxConcurrentDeliveries.healthy;
}

function takesLongerThan(limitMs: number, ended: Promise<void>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), limitMs);
    void ended.then(() => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}
