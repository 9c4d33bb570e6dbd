import { buildConcurrently, changeBriefly, dropConcurrently } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When an order's address was redacted, and which orders are due for it. Online; each step may be repeated. */
export class AddressRetention1764000000013 implements MigrationInterface {
  readonly name = 'AddressRetention1764000000013';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, 'ALTER TABLE orders ADD COLUMN IF NOT EXISTS redacted_at timestamptz');
    await buildConcurrently(
      runner,
      'orders_with_old_address',
      'INDEX',
      `orders ((coalesce(delivered_at, updated_at))) WHERE redacted_at IS NULL AND status NOT IN ('pending', 'processing')`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropConcurrently(runner, 'orders_with_old_address');
    await changeBriefly(runner, 'ALTER TABLE orders DROP COLUMN IF EXISTS redacted_at');
  }
}
