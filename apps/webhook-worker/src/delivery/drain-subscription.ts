import { type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type WebhookWorkerSettings } from '../config.js';
import { deliveryMetrics } from './delivery-metrics.js';
import { HostSlots } from './host-slots.js';
import { deliveriesAtATime } from './lanes.rules.js';
import { Lease, type Leased } from './lease.js';
import { PostWebhook } from './post-webhook.js';
import { Settlements } from './settle.js';
import type { Sleeper } from './wake-ups.js';

/** After so much a subscription goes to the end of the line. */
const mostDeliveries = 64;
const mostMs = 5_000;

/** Sends what a subscription has due: take by lease → sign → POST → settle, again until nothing is due or its turn is over. */
@Injectable()
export class DrainSubscription {
  private stopping = false;

  constructor(
    private readonly lease: Lease,
    private readonly post: PostWebhook,
    private readonly settlements: Settlements,
    private readonly hosts: HostSlots,
    @Inject(CONFIG) private readonly config: WebhookWorkerSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Answers whether more may be due that could be sent now. */
  async run(sleeper: Sleeper): Promise<boolean> {
    const endsAtMs = performance.now() + mostMs;
    let sent = 0;
    while (!this.stopping) {
      const { count, full } = await this.sendSome(sleeper);
      sent += count;
      if (!full) return false;
      if (sent >= mostDeliveries || performance.now() > endsAtMs) return true;
    }
    return false;
  }

  /** Begins nothing more. */
  stop(): void {
    this.stopping = true;
  }

  private async sendSome({ subscriptionId, lane }: Sleeper): Promise<{ count: number; full: boolean }> {
    const slots = await this.hosts.take({ subscriptionId, lane }, deliveriesAtATime.healthy);
    if (slots === undefined) return { count: 0, full: false };
    let unused = slots.count;
    try {
      const { deliveries, full } = await this.lease.claim(subscriptionId, slots.count);
      const [first] = deliveries;
      if (first !== undefined) this.hosts.learn(subscriptionId, first.url);
      unused -= deliveries.length;
      const sending = deliveries.map((delivery) => this.attempt(delivery).finally(() => slots.free(1)));
      slots.free(unused);
      unused = 0;
      await Promise.all(sending);
      return { count: deliveries.length, full };
    } finally {
      if (unused > 0) slots.free(unused);
    }
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
