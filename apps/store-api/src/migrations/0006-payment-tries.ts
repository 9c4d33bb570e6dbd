import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What asking a provider again must remember across a crash: which key it asks under, and how often it has asked in vain. */
export class PaymentTries1764000000006 implements MigrationInterface {
  name = 'PaymentTries1764000000006';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE charges
        -- The charge is asked for under its id, then under <id>:2 and so on; written before the key is used.
        ADD COLUMN key_number int NOT NULL DEFAULT 1,
        -- When the provider was found to answer this key with an error for good.
        ADD COLUMN key_spent_at timestamptz,
        -- Stripe's refund, known once Stripe has answered.
        ADD COLUMN refund_reference text,
        ADD COLUMN refund_key_number int NOT NULL DEFAULT 1,
        ADD COLUMN refund_tries int NOT NULL DEFAULT 0;
      -- How often its charge was asked for without an outcome; 0 for one whose request died.
      ALTER TABLE orders ADD COLUMN resume_tries int NOT NULL DEFAULT 0;
    `);
  }

  /** Numbers of keys that are in use are forgotten: settle what is open before. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE orders DROP COLUMN resume_tries;
      ALTER TABLE charges DROP COLUMN refund_tries, DROP COLUMN refund_key_number, DROP COLUMN refund_reference,
                          DROP COLUMN key_spent_at, DROP COLUMN key_number;
    `);
  }
}
