import { buildConcurrently, changeWithLockTimeout, dropConcurrently } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const tables = ['creators', 'orders', 'charges'];

/** Test creators and their orders (ADR 66). Earlier creators, orders and charges are live. */
export class TestMode implements MigrationInterface {
  readonly name = 'TestMode1795737600000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const table of tables)
      await changeWithLockTimeout(
        runner,
        `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS test boolean NOT NULL DEFAULT false`,
      );
    await buildConcurrently(
      runner,
      'orders_of_simulated_warehouse',
      'INDEX',
      "orders (updated_at) WHERE test AND status IN ('processing', 'shipped')",
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropConcurrently(runner, 'orders_of_simulated_warehouse');
    for (const table of tables) await changeWithLockTimeout(runner, `ALTER TABLE ${table} DROP COLUMN test`);
  }
}
