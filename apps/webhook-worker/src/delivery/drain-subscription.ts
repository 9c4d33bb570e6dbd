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
import { type Sleeper, WakeUps } from './wake-ups.js';

/** After so much a subscription goes to the end of the line. */
const mostDeliveries = 64;
const mostMs = 5_000;

/** Attempts whose turns do not wait for them any more. Each holds a connection, and its body in memory. */
const mostLate = 2_000;

/** What this process does for a subscription. */
interface Work {
  /** Turns that go on. */
  turns: number;
  /** Attempts under way. */
  underWay: number;
  claiming: boolean;
  /** Something became due while it claimed, perhaps too late for that. */
  again: boolean;
  /** Where all that lies that anybody came for; undefined when somebody did not say, until that is found out. */
  days: DaySpan | undefined;
}

/** What is this process's to send now, and the room at its host; none when there was nothing. */
interface Taken extends Claim {
  readonly slots: Slots | undefined;
}

interface Sent {
  readonly lane: Lane;
  /** Whether more may be due that could be sent now. */
  readonly more: boolean;
}

/**
 * Sends what a subscription has due: take by lease → sign → POST → settle, again until nothing is due or its turn is over. Whoever wakes it, a
 * process has no more attempts under way to it than its receiver gets at a time. A turn does not wait for a receiver that does not answer: others
 * want it. Its attempts go on without.
 */
@Injectable()
export class DrainSubscription {
  private readonly work = new Map<string, Work>();
  private readonly late = new Set<Promise<void>>();
  private lateAttempts = 0;
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

  /** One turn. Answers who has to be put in line, and in which lane, because more may be due. */
  async run(sleeper: Sleeper): Promise<Sleeper | undefined> {
    if (this.stopping || this.isLookedAfter(sleeper)) return undefined;
    const { subscriptionId, days } = sleeper;
    const work = this.work.get(subscriptionId) ?? {
      turns: 0,
      underWay: 0,
      claiming: false,
      again: false,
      days,
    };
    this.work.set(subscriptionId, work);
    work.turns += 1;
    try {
      return await this.turn(sleeper, work);
    } finally {
      work.turns -= 1;
      this.forgetIfIdle(subscriptionId, work);
    }
  }

  /**
   * Whether somebody here will look at what has become due: who is claiming now, and is told to look again, or who waits for as many attempts as
   * there may ever be. From now on all who are at work for the subscription look at these days, too.
   */
  isLookedAfter({ subscriptionId, days }: Sleeper): boolean {
    const work = this.work.get(subscriptionId);
    if (work === undefined) return false;
    work.days = coverIfKnown(work.days, days);
    return hasEnough(work);
  }

  private async turn(sleeper: Sleeper, work: Work): Promise<Sleeper | undefined> {
    const endsAtMs = performance.now() + mostMs;
    let sent = 0;
    do {
      const taken = await this.take(sleeper, work);
      const { lane, more } = await this.send(sleeper, taken);
      if (!more) return undefined;
      sent += taken.deliveries.length;
      const isOver = sent >= mostDeliveries || performance.now() > endsAtMs;
      if (isOver || lane !== sleeper.lane) return { ...sleeper, lane }; // the line where it belongs now
    } while (!this.stopping && !hasEnough(work));
    return undefined;
  }

  /** Begins nothing more. Ends when all that has no turn any more has ended. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.late);
  }

  /** Takes room at the host and what is due by lease; gives back the room that is not used. */
  private async take(sleeper: Sleeper, work: Work): Promise<Taken> {
    const { subscriptionId, lane } = sleeper;
    work.claiming = true;
    work.again = false;
    let used = 0;
    let slots: Slots | undefined;
    try {
      slots = await this.hosts.take(sleeper, deliveriesAtATime.healthy - work.underWay);
      if (slots === undefined) return { deliveries: [], full: false, lane, days: undefined, slots };
      const { underWay, days } = work;
      const claim = await this.lease.claim({ subscriptionId, most: slots.count, underWay, days });
      if (!work.again) work.days = claim.days; // who came meanwhile has widened it
      const [first] = claim.deliveries;
      if (first !== undefined) this.hosts.learn(subscriptionId, first.url);
      used = claim.deliveries.length;
      return { ...claim, full: claim.full || work.again, slots };
    } finally {
      work.claiming = false;
      work.underWay += used;
      slots?.free(slots.count - used);
    }
  }

  private async send(
    sleeper: Sleeper,
    { deliveries, full, lane = sleeper.lane, slots }: Taken,
  ): Promise<Sent> {
    if (deliveries.length === 0) return { lane, more: full };
    const sending = deliveries.map((delivery) =>
      this.attempt(delivery).finally(() => {
        slots?.free(1);
        this.endOne(delivery.subscriptionId);
      }),
    );
    const ended = Promise.all(sending).then(() => undefined);
    if (!(await isLate(ended))) return { lane, more: full };
    return { lane, more: await this.leave({ ...sleeper, lane }, ended, deliveries.length) };
  }

  /** Lets attempts go on without a turn, unless too many do. Answers whether the turn goes on. */
  private async leave(sleeper: Sleeper, ended: Promise<void>, count: number): Promise<boolean> {
    if (this.stopping || this.lateAttempts + count > mostLate) {
      await ended;
      return true;
    }
    this.lateAttempts += count;
    const all = ended.then(() => {
      this.lateAttempts -= count;
      this.late.delete(all);
      this.wakeUps.putInLine([sleeper]); // for what has become due meanwhile
    });
    this.late.add(all);
    return false;
  }

  private endOne(subscriptionId: string): void {
    const work = this.work.get(subscriptionId);
    if (work === undefined) return;
    work.underWay -= 1;
    this.forgetIfIdle(subscriptionId, work);
  }

  private forgetIfIdle(subscriptionId: string, work: Work): void {
    if (work.turns === 0 && work.underWay === 0) this.work.delete(subscriptionId);
  }

  private async attempt(delivery: Leased): Promise<void> {
    // A process that was stopped in between may find its lease gone: then the attempt is another's.
    if (performance.now() + this.config.WEBHOOK_TIMEOUT_MS > delivery.leaseEndsAtMs) return;
    if (delivery.first) {
      deliveryMetrics.eventToFirstAttempt.observe((Date.now() - delivery.occurredAt.getTime()) / 1_000);
    }
    try {
      const exchange = await this.post.run(delivery);
      deliveryMetrics.attemptDuration.observe({ outcome: exchange.outcome }, exchange.durationMs / 1_000);
      if (exchange.ourFault) deliveryMetrics.ownFaults.inc({ outcome: exchange.outcome });
      await this.settlements.settle({ delivery, exchange });
    } catch (error) {
      // Not the receiver's fault and not counted against it; the lease ends and the delivery is due again.
      this.logger.error(
        { error, delivery_id: publicId('whd', delivery.id), attempt: delivery.number },
        'An attempt could not be settled.',
      );
    }
  }
}

/** Whether one more turn would find nothing to do: somebody claims, and is told to claim again, or nothing more may be under way. */
function hasEnough(work: Work): boolean {
  if (work.claiming) work.again = true;
  return work.claiming || work.underWay >= deliveriesAtATime.healthy;
}

/** Whether something takes longer than a receiver may that is not slow. */
function isLate(ended: Promise<void>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), slowAboveMs);
    void ended.then(() => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}
