import type { MigrationInterface, QueryRunner } from 'typeorm';
import { allowReadingOwnRows } from './row-security.js';

/** What messages reported about an order; the row of an order has its newest state only. */
export class OrderEvents implements MigrationInterface {
  readonly name = 'OrderEvents1795654800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE order_events (
        order_id uuid NOT NULL,
        message_id uuid NOT NULL,
        creator_id uuid NOT NULL,
        type text NOT NULL,
        occurred_at timestamptz NOT NULL,
        reason text,
        tracking jsonb,
        PRIMARY KEY (order_id, message_id)
      );
      ${allowReadingOwnRows('order_events')}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE order_events');
  }
}
