import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import { deliveryMetrics } from './delivery-metrics.js';
import { HostSlots, type Slots } from './host-slots.js';
import { deliveriesAtATime, slowAboveMs } from './lanes.rules.js';
import { type Claim, Lease, type Leased } from './lease.js';
import { PostWebhook } from './post-webhook.js';
import { Settlements } from './settle.js';
import { type Sleeper, WakeUps } from './wake-ups.js';

/** After so much a subscription goes to the end of the line. */
const mostDeliveries = 64;
const mostMs = 5_000;

/** Attempts whose drains do not wait for them any more. */
const mostLate = 1_000;

/**
 * Sends what a subscription has due: take by lease → sign → POST → settle, again until nothing is due or its turn is over. A turn does not wait
 * for a receiver that does not answer: others want it. Its attempts go on, and it has no further turn in this process until they have ended.
 */
@Injectable()
export class DrainSubscription {
  /** Attempts under way without a turn, by their subscription. */
  private readonly late = new Map<string, Promise<void>>();
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

  /** Answers whether more may be due that could be sent now. */
  async run(sleeper: Sleeper): Promise<boolean> {
    const endsAtMs = performance.now() + mostMs;
    let sent = 0;
    while (!this.stopping && !this.late.has(sleeper.subscriptionId)) {
      const { count, full } = await this.sendSome(sleeper);
      sent += count;
      if (!full) return false;
      if (sent >= mostDeliveries || performance.now() > endsAtMs) return true;
    }
    return false;
  }

  /** Begins nothing more. Ends when all that has no turn any more has ended. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.late.values());
  }

  private async sendSome(sleeper: Sleeper): Promise<{ count: number; full: boolean }> {
    const slots = await this.hosts.take(sleeper, deliveriesAtATime.healthy);
    if (slots === undefined) return { count: 0, full: false };
    const { deliveries, full } = await this.claim(sleeper, slots);
    if (deliveries.length === 0) return { count: 0, full };
    const sending = deliveries.map((delivery) => this.attempt(delivery).finally(() => slots.free(1)));
    const ended = Promise.all(sending).then(() => undefined);
    const goesOn = (await isLate(ended)) ? await this.leave(sleeper, ended, sending.length) : full;
    return { count: sending.length, full: goesOn };
  }

  /** Gives back the slots that are not used. */
  private async claim({ subscriptionId }: Sleeper, slots: Slots): Promise<Claim> {
    let used = 0;
    try {
      const claim = await this.lease.claim(subscriptionId, slots.count);
      const [first] = claim.deliveries;
      if (first !== undefined) this.hosts.learn(subscriptionId, first.url);
      used = claim.deliveries.length;
      return claim;
    } finally {
      slots.free(slots.count - used);
    }
  }

  /** Lets attempts go on without a turn. Answers whether the turn goes on after all, since too many are late. */
  private async leave(sleeper: Sleeper, ended: Promise<void>, count: number): Promise<boolean> {
    const { subscriptionId } = sleeper;
    if (this.stopping || this.lateAttempts + count > mostLate || this.late.has(subscriptionId)) {
      await ended;
      return true;
    }
    this.lateAttempts += count;
    const all = ended.finally(() => {
      this.lateAttempts -= count;
      this.late.delete(subscriptionId);
      this.wakeUps.putInLine([sleeper]); // for what has become due, or was not its turn, meanwhile
    });
    this.late.set(subscriptionId, all);
    return false;
  }

  private async attempt(delivery: Leased): Promise<void> {
    // A process that was stopped in between may find its lease gone: then the attempt is another's.
    if (performance.now() + this.config.WEBHOOK_TIMEOUT_MS > delivery.leaseEndsAtMs) return;
    if (delivery.number === 1 && !delivery.test) {
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
        { error, delivery_id: delivery.id, attempt: delivery.number },
        'An attempt could not be settled.',
      );
    }
  }
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
