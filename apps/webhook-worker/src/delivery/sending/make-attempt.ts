import { publicId } from '@fulfilment/contracts';
import { type Logger, LOGGER, recordedTrace } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type WebhookWorkerSettings } from '../../config.js';
import { DeliveryWindows } from '../concurrency/delivery-windows.js';
import type { WindowAtStart } from '../concurrency/window.rules.js';
import { deliveryMetrics } from '../delivery-metrics.js';
import type { LeasedDelivery } from '../leased-delivery.js';
import { SettlementBatches } from '../settlement/settlement-batches.js';
import { PostWebhook } from './post-webhook.js';

/** Makes one attempt of a leased delivery, from the request to its stored result. */
@Injectable()
export class MakeAttempt {
  constructor(
    private readonly post: PostWebhook,
    private readonly windows: DeliveryWindows,
    private readonly settlements: SettlementBatches,
    @Inject(CONFIG) private readonly config: Pick<WebhookWorkerSettings, 'WEBHOOK_TIMEOUT_MS'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Resolves when the result is stored, when an error is logged, or when the lease is too short. */
  async run(delivery: LeasedDelivery, windowAtStart: WindowAtStart): Promise<void> {
    // If this process has stalled since the claim, the lease could end during the attempt. Then no attempt is
    // made, and the delivery becomes due again when the lease ends.
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
      // Only a stored result changes the health of the receiver, so this error does not.
      this.logger.error(
        { error, delivery_id: publicId('whd', delivery.id), attempt: delivery.number },
        'An attempt could not be made, or its result could not be stored; the delivery is retried when its lease ends.',
      );
    }
  }
}
