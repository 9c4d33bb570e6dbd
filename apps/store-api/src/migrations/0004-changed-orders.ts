import { buildConcurrently, dropConcurrently } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `GET /v1/orders?updated_since=…` reads the changed orders in the order of their changes. */
export class ChangedOrders implements MigrationInterface {
  readonly name = 'ChangedOrders1795651200000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildConcurrently(runner, 'orders_changed', 'INDEX', 'orders (creator_id, updated_at, id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropConcurrently(runner, 'orders_changed');
  }
}
