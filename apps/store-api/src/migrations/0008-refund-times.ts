import { buildConcurrently, changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When a refund that is owed is asked for next, apart from when the charge was settled; whose books have what came of a spent key. */
export class RefundTimes1764000000008 implements MigrationInterface {
  name = 'RefundTimes1764000000008';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // Null refund_at: at once. A release before this one, which may still run, leaves it so, and finds what is owed by charges_to_refund.
    // Null spent_customer: under nobody, or not known. Of the charge's first key.
    await changeBriefly(
      runner,
      'ALTER TABLE charges ADD COLUMN IF NOT EXISTS refund_at timestamptz, ADD COLUMN IF NOT EXISTS spent_customer text',
    );
    await runner.query(
      "UPDATE charges SET refund_at = settled_at WHERE status = 'refund_due' AND refund_at IS NULL",
    );
    await buildConcurrently(
      runner,
      'charges_refund_at',
      'INDEX',
      "charges (refund_at NULLS FIRST) WHERE status = 'refund_due'",
    );
  }

  /** What is owed is asked for at once. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP INDEX charges_refund_at;
      ALTER TABLE charges DROP COLUMN spent_customer, DROP COLUMN refund_at;
    `);
  }
}
