import { type Database, statement } from '@fulfilment/database';
import type { Charge, OpenCharge } from '../payment-gateway.js';

const readState = statement(
  'stripe-keys.read',
  `SELECT coalesce(k.key_number, 1) AS "keyNumber", k.customer, k.payment_intent AS "paymentIntent",
          floor(extract(epoch FROM now() - k.unusable_since) * 1000)::bigint AS "unusableForMs",
          floor(extract(epoch FROM now() - $2::timestamptz) * 1000)::bigint AS "ageMs"
   FROM (VALUES ($1::uuid)) AS charge (id) LEFT JOIN stripe_keys k ON k.charge_id = charge.id`,
);
// Keeps the customer of the first key. A payment method is attached to one customer at most, and unusable
// after it is detached (https://docs.stripe.com/api/payment_methods/detach), so charges of later keys have
// the same customer or none.
const markUnusable = statement(
  'stripe-keys.mark-unusable',
  `INSERT INTO stripe_keys AS k (charge_id, key_number, unusable_since, customer) VALUES ($1, $2, now(), $3)
   ON CONFLICT (charge_id) DO UPDATE SET unusable_since = now() WHERE k.key_number = $2 AND k.unusable_since IS NULL`,
);
const saveIntent = statement(
  'stripe-keys.save-intent',
  'UPDATE stripe_keys SET payment_intent = $2 WHERE charge_id = $1',
);
// If several processes find that nothing was charged, one of them gets the next key. None gets it once a
// process has found a payment.
const useNext = statement(
  'stripe-keys.use-next',
  `UPDATE stripe_keys SET key_number = key_number + 1, unusable_since = NULL
   WHERE charge_id = $1 AND key_number = $2 AND unusable_since IS NOT NULL AND payment_intent IS NULL`,
);
const readRefundKeyNumber = statement(
  'stripe-keys.refund-key-number',
  'SELECT refund_key_number AS number FROM stripe_keys WHERE charge_id = $1',
);
const useNextForRefund = statement(
  'stripe-keys.use-next-for-refund',
  `INSERT INTO stripe_keys AS k (charge_id, refund_key_number) VALUES ($1, $2 + 1)
   ON CONFLICT (charge_id) DO UPDATE SET refund_key_number = k.refund_key_number + 1 WHERE k.refund_key_number = $2`,
);

/** A charge waits because its key is unusable. */
export class UnusableKey extends Error {
  override readonly name = 'UnusableKey';

  constructor() {
    super('Stripe repeats a server error under the idempotency key; a later attempt looks up the outcome.');
  }
}

/** State of the idempotency keys of a charge at Stripe. Durations are by PostgreSQL's clock. */
export interface ChargeKeys {
  /** Number of the current key, from 1. The next one follows if nothing was charged under an unusable key. */
  readonly keyNumber: number;
  /** Time since the current key was found to be unusable; null while it is usable. */
  readonly unusableForMs: number | null;
  /** The customer under whom the first key was used; null without a customer, or when unknown. */
  readonly customer: string | null;
  /** The PaymentIntent that a lookup has found. */
  readonly paymentIntent: string | null;
  /** Age of the charge row. */
  readonly ageMs: number;
}

/**
 * The idempotency keys of charges and refunds at Stripe. Only a charge with an unusable key, or with a failed
 * refund, has a row.
 */
export class StripeIdempotencyKeys {
  constructor(private readonly database: Database) {}

  async read({ id, createdAt }: OpenCharge): Promise<ChargeKeys> {
    const keys = await this.database.row<ChargeKeys>(readState, [id, createdAt]);
    if (keys === undefined) throw new Error('PostgreSQL returned no row for the keys of a charge.');
    return keys;
  }

  async markUnusable({ id }: Charge, keyNumber: number, customer: string | null): Promise<void> {
    await this.database.run(markUnusable, [id, keyNumber, customer]);
  }

  async saveIntent({ id }: Charge, paymentIntent: string): Promise<void> {
    await this.database.run(saveIntent, [id, paymentIntent]);
  }

  /** Makes the next key the current one. Returns whether this process may use it. */
  async useNext({ id }: Charge, keyNumber: number): Promise<boolean> {
    return (await this.database.run(useNext, [id, keyNumber])) === 1;
  }

  async readRefundKeyNumber({ id }: Charge): Promise<number> {
    return (await this.database.row<{ number: number }>(readRefundKeyNumber, [id]))?.number ?? 1;
  }

  async useNextForRefund({ id }: Charge, keyNumber: number): Promise<void> {
    await this.database.run(useNextForRefund, [id, keyNumber]);
  }
}

/** Returns the idempotency key with a number: the first one, then `<first>:2` and so on. */
export function numberedKey(first: string, number: number): string {
  return number === 1 ? first : `${first}:${number}`;
}
