import { changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const create = `
  CREATE TABLE IF NOT EXISTS stripe_keys (
    charge_id uuid PRIMARY KEY,
    -- The charge is requested under its id, then under <id>:2 and so on; written before the key is used.
    key_number int NOT NULL DEFAULT 1,
    -- When Stripe was found to repeat an error under this key.
    unusable_since timestamptz,
    -- The customer under whom the first key was used. Null: no customer, or not known.
    customer text,
    -- The PaymentIntent that a lookup has found.
    payment_intent text,
    refund_key_number int NOT NULL DEFAULT 1
  )`;
const copy = `
  INSERT INTO stripe_keys (charge_id, key_number, unusable_since, customer, refund_key_number)
  SELECT id, key_number, key_spent_at, spent_customer, refund_key_number FROM charges
  WHERE key_number > 1 OR key_spent_at IS NOT NULL OR refund_key_number > 1
  ON CONFLICT DO NOTHING`;

/**
 * Moves the idempotency keys at Stripe out of `charges` into a table of the Stripe adapter. The old columns
 * stay for replicas of the release before this one; a later release drops them (docs/adr/0034).
 */
export class StripeKeys1764000000021 implements MigrationInterface {
  readonly name = 'StripeKeys1764000000021';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, create);
    await runner.query(copy);
  }

  /** Numbers of keys that are in use are lost: settle pending charges and due refunds before. */
  async down(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, 'DROP TABLE IF EXISTS stripe_keys');
  }
}
