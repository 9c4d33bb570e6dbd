import { buildConcurrently, changeBriefly, dropConcurrently } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

// One row for each day that was compared with the payment provider; the lease is that of the replica that does it.
const create = `
  CREATE TABLE IF NOT EXISTS payment_reconciliations (
    day date PRIMARY KEY,
    lease_until timestamptz NOT NULL,
    finished_at timestamptz,
    findings int
  )`;

/** Which days were compared with the payment provider, and charges by when they were settled. Online; each step may be repeated. */
export class PaymentReconciliations1764000000014 implements MigrationInterface {
  readonly name = 'PaymentReconciliations1764000000014';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, create);
    await buildConcurrently(
      runner,
      'charges_by_settlement',
      'INDEX',
      'charges (settled_at) WHERE settled_at IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropConcurrently(runner, 'charges_by_settlement');
    await changeBriefly(runner, 'DROP TABLE IF EXISTS payment_reconciliations');
  }
}
