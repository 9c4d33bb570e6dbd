import { buildConcurrently } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds a charge by the refund that an event of Stripe's names. */
export class RefundReferences1764000000020 implements MigrationInterface {
  name = 'RefundReferences1764000000020';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildConcurrently(
      runner,
      'charges_refund_reference',
      'INDEX',
      'charges (refund_reference) WHERE refund_reference IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX charges_refund_reference');
  }
}
