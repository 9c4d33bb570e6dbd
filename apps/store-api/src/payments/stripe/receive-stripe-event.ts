import { Database, statement } from '@fulfilment/database';
import { RateLimited, ValidationFailed } from '@fulfilment/error-envelope';
import { RateLimiter } from '@fulfilment/http-service';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../../config.js';
import { hintOf, isSignedByStripe } from './stripe-event.rules.js';

// Skips orders without a recorded attempt to charge (`resume_tries = 0`): the request that placed the order,
// or the completer, is about to charge them.
const chargeDueNow = statement(
  'orders.charge-due-now',
  `UPDATE orders SET resume_at = now()
   WHERE id = (SELECT order_id FROM charges WHERE id = $1 AND status = 'pending') AND resume_tries > 0 AND resume_at > now()`,
);
// Makes a refund due if it waits for its retry, or if it is marked as refunded and Stripe reports a failure
// ($2). `RefundCharges` reads the refund from Stripe first, and restores `refunded` if it did not fail.
const refundDueNow = statement(
  'charges.refund-due-now',
  `UPDATE charges SET status = 'refund_due', refund_at = now()
   WHERE refund_reference = $1 AND ((status = 'refund_due' AND refund_at > now()) OR (status = 'refunded' AND $2))`,
);

/**
 * Treats an event of Stripe as a hint: the charge or refund that it names is read from Stripe soon. The event
 * itself is never used as the outcome.
 */
@Injectable()
export class ReceiveStripeEvent {
  private readonly secrets: readonly string[];

  constructor(
    private readonly database: Database,
    private readonly limiter: RateLimiter,
    @Inject(CONFIG) config: StoreApiSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.secrets = config.STRIPE_WEBHOOK_SECRET?.split(',') ?? [];
  }

  /**
   * Verifies the signature, and makes the charge or refund of the event due.
   * @throws ValidationFailed without a valid signature; RateLimited when the client network sent too many
   *   requests without valid credentials
   */
  async run(body: Buffer, signature: string | undefined, address: string): Promise<{ received: true }> {
    if (!isSignedByStripe(body, signature ?? '', this.secrets, this.clock())) return this.reject(address);
    const hint = hintOf(body);
    if (hint?.about === 'charge') await this.database.run(chargeDueNow, [hint.chargeId]);
    if (hint?.about === 'refund') await this.database.run(refundDueNow, [hint.reference, hint.isFailure]);
    return { received: true };
  }

  /** Counts the request in the quota of its client network, like other requests without valid credentials. */
  private async reject(address: string): Promise<never> {
    const decision = await this.limiter.takeByAddress('anonymous', address);
    if (decision?.allowed === false)
      throw new RateLimited(decision.retryAfterSeconds, this.limiter.headers('anonymous', decision));
    throw new ValidationFailed([
      { field: 'stripe-signature', reason: 'must be a recent signature of Stripe' },
    ]);
  }
}
