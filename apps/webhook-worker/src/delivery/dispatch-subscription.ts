import { publicId } from '@fulfilment/contracts';
import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import { coverIfKnown, type DaySpan } from './day-span.rules.js';
import { deliveryMetrics } from './delivery-metrics.js';
import { HostSlots, type Slots } from './host-slots.js';
import { deliveriesAtATime, type Lane, slowAboveMs } from './lanes.rules.js';
import { type Claim, Lease, type Leased } from './lease.js';
import { PostWebhook } from './post-webhook.js';
import { Settlements } from './settle.js';
import { type DueSubscription, WakeUps } from './wake-ups.js';

/** A turn ends after so many deliveries, or so long: the subscription is queued again, behind the others. */
const mostDeliveries = 64;
const mostMs = 5_000;

/** Attempts that go on after their turn has ended. Each holds a connection, and its body in memory. */
const mostDetached = 2_000;

/** What this process is doing for a subscription. */
interface Activity {
  /** Turns that have not ended. */
  turns: number;
  /** Attempts under way, of those turns and detached ones. */
  underWay: number;
  /** Whether one of the turns is claiming. */
  claiming: boolean;
  /** Something became due while it was claiming, perhaps too late for that claim: it claims once more. */
  claimAgain: boolean;
  /** The days of all that became due; undefined when some of them are not known, until a claim has found them out. */
  days: DaySpan | undefined;
}

/** What is this process's to send now, and its slots at the host; undefined when the host had none left. */
interface ClaimWithSlots extends Claim {
  readonly slots: Slots | undefined;
}

interface Sent {
  readonly lane: Lane;
  /** Whether more may be due that could be sent now. */
  readonly more: boolean;
}

/**
 * Sends what a subscription has due, in turns: claim by lease → sign → POST → settle, again until nothing is due or the turn is over. However many
 * turns are begun, a process has no more attempts under way to a subscription than its receiver gets at a time. A turn does not wait for a receiver
 * that does not answer, since other subscriptions want its place: its attempts are detached and go on without it.
 */
@Injectable()
export class DrainSubscription {
  private readonly activities = new Map<string, Activity>();
  private readonly detached = new Set<Promise<void>>();
  private detachedAttempts = 0;
  private stopping = false;

  constructor(
    private readonly lease: Lease,
    private readonly post: PostWebhook,
    private readonly settlements: Settlements,
    private readonly hosts: HostSlots,
    private readonly wakeUps: WakeUps,
    @Inject(CONFIG) private readonly config: WebhookWorkerSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** One turn. Answers the subscription when it has to be queued again, since more may be due, in the lane where it belongs now. */
  async run(due: DueSubscription): Promise<DueSubscription | undefined> {
    if (this.stopping || this.leaveToTurnsAtWork(due)) return undefined;
    const { subscriptionId, days } = due;
    const activity = this.activities.get(subscriptionId) ?? {
      turns: 0,
      underWay: 0,
      claiming: false,
      claimAgain: false,
      days,
    };
    this.activities.set(subscriptionId, activity);
    activity.turns += 1;
    try {
      return await this.turn(due, activity);
    } finally {
      activity.turns -= 1;
      this.forgetIfIdle(subscriptionId, activity);
    }
  }

  /**
   * Adds the days of what has become due to what the turns at work for the subscription search, and leaves it to them if they suffice. True when a
   * turn is claiming (it will claim once more) or all eight attempts are under way; else a turn of its own has to be begun.
   */
  leaveToTurnsAtWork({ subscriptionId, days }: DueSubscription): boolean {
    const activity = this.activities.get(subscriptionId);
    if (activity === undefined) return false;
    activity.days = coverIfKnown(activity.days, days);
    return leaveToOthers(activity);
  }

  private async turn(due: DueSubscription, activity: Activity): Promise<DueSubscription | undefined> {
    const endsAtMs = performance.now() + mostMs;
    for (let sent = 0; ;) {
      const claim = await this.claim(due, activity);
      const { lane, more } = await this.send(due, claim);
      if (!more) return undefined;
      sent += claim.deliveries.length;
      const isOver = sent >= mostDeliveries || performance.now() > endsAtMs;
      if (isOver || lane !== due.lane) return { ...due, lane };
      if (this.stopping || leaveToOthers(activity)) return undefined;
    }
  }

  /** Begins nothing more. Ends when the detached attempts have. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.detached);
  }

  /** Takes slots at the host, and by lease what is due; frees the slots that are not used. */
  private async claim(due: DueSubscription, activity: Activity): Promise<ClaimWithSlots> {
    const { subscriptionId, lane } = due;
    activity.claiming = true;
    activity.claimAgain = false;
    let used = 0;
    let slots: Slots | undefined;
    try {
      slots = await this.hosts.take(due, deliveriesAtATime.healthy - activity.underWay);
      if (slots === undefined) return { deliveries: [], full: false, lane, days: undefined, slots };
      const { underWay, days } = activity;
      const claim = await this.lease.claim({ subscriptionId, most: slots.count, underWay, days });
      if (!activity.claimAgain) activity.days = claim.days; // else they were widened meanwhile
      const [first] = claim.deliveries;
      if (first !== undefined) this.hosts.learn(subscriptionId, first.url);
      used = claim.deliveries.length;
      return { ...claim, full: claim.full || activity.claimAgain, slots };
    } finally {
      activity.claiming = false;
      activity.underWay += used;
      slots?.free(slots.count - used);
    }
  }

  private async send(
    due: DueSubscription,
    { deliveries, full, lane = due.lane, slots }: ClaimWithSlots,
  ): Promise<Sent> {
    if (deliveries.length === 0) return { lane, more: full };
    const sending = deliveries.map((delivery) =>
      this.attempt(delivery).finally(() => {
        slots?.free(1);
        this.endOne(delivery.subscriptionId);
      }),
    );
    const ended = Promise.all(sending).then(() => undefined);
    if (!(await lastsLongerThan(slowAboveMs, ended))) return { lane, more: full };
    if (this.stopping || this.detachedAttempts + deliveries.length > mostDetached) {
      await ended;
      return { lane, more: true };
    }
    this.detach({ ...due, lane }, ended, deliveries.length);
    return { lane, more: false };
  }

  /** Lets attempts go on without a turn. */
  private detach(due: DueSubscription, ended: Promise<void>, count: number): void {
    this.detachedAttempts += count;
    const all = ended.then(() => {
      this.detachedAttempts -= count;
      this.detached.delete(all);
      this.wakeUps.enqueue([due]); // for what has become due meanwhile
    });
    this.detached.add(all);
  }

  private endOne(subscriptionId: string): void {
    const activity = this.activities.get(subscriptionId);
    if (activity === undefined) return;
    activity.underWay -= 1;
    this.forgetIfIdle(subscriptionId, activity);
  }

  private forgetIfIdle(subscriptionId: string, activity: Activity): void {
    if (activity.turns === 0 && activity.underWay === 0) this.activities.delete(subscriptionId);
  }

  private async attempt(delivery: Leased): Promise<void> {
    // A process that stood still since the claim may find too little left of the lease: then the attempt is for another to make.
    if (performance.now() + this.config.WEBHOOK_TIMEOUT_MS > delivery.leaseEndsAtMs) return;
    if (delivery.first) {
      deliveryMetrics.eventToFirstAttempt.observe((Date.now() - delivery.occurredAt.getTime()) / 1_000);
    }
    try {
      const exchange = await this.post.run(delivery);
      deliveryMetrics.attemptDuration.observe({ outcome: exchange.outcome }, exchange.durationMs / 1_000);
      if (exchange.isLocalFailure) deliveryMetrics.ownFaults.inc({ outcome: exchange.outcome });
      await this.settlements.settle({ delivery, exchange });
    } catch (error) {
      // It is not the receiver's fault and does not count against it. When the lease ends, the delivery is due again.
      this.logger.error(
        { error, delivery_id: publicId('whd', delivery.id), attempt: delivery.number },
        'An attempt could not be settled.',
      );
    }
  }
}

/**
 * Leaves what may be due to others, if there are any: to the turn that is claiming, which claims once more; or, when as many attempts are under way
 * as a receiver ever gets, to the turn that goes on when they end. Answers whether it did.
 */
function leaveToOthers(activity: Activity): boolean {
  if (activity.claiming) activity.claimAgain = true;
  return activity.claiming || activity.underWay >= deliveriesAtATime.healthy;
}

function lastsLongerThan(limitMs: number, ended: Promise<void>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), limitMs);
    void ended.then(() => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}
