import { ask, buildConcurrently, changeBriefly, dropConcurrently, hasColumn } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';

// The default is the time at which the row is written, which is when the product's row is locked; now() is when the transaction began.
const addTime = `
  ALTER TABLE stock_movements ADD COLUMN moved_at timestamptz;
  ALTER TABLE stock_movements ALTER COLUMN moved_at SET DEFAULT clock_timestamp()`;
const adjustments = `
  CREATE TABLE IF NOT EXISTS stock_adjustments (
    message_id uuid PRIMARY KEY,
    product_id uuid NOT NULL,
    delta int NOT NULL CHECK (delta <> 0),
    occurred_at timestamptz NOT NULL
  );
  CREATE INDEX IF NOT EXISTS stock_adjustments_of_product ON stock_adjustments (product_id, occurred_at)`;
// A movement of before happened when its charge was begun, was declined, or when its order was cancelled.
const withoutTime = 'FROM stock_movements WHERE moved_at IS NULL';
const setTimes = `
  UPDATE stock_movements m SET moved_at =
    CASE WHEN m.kind = 'taken' THEN coalesce(c.created_at, o.created_at)
         WHEN c.status = 'declined' THEN coalesce(c.settled_at, o.updated_at)
         ELSE o.updated_at END
  FROM (SELECT order_id, attempt, product_id, kind ${withoutTime} LIMIT 1000) AS some
  JOIN orders o ON o.id = some.order_id
  LEFT JOIN charges c ON c.order_id = some.order_id AND c.attempt = some.attempt
  WHERE (m.order_id, m.attempt, m.product_id, m.kind) = (some.order_id, some.attempt, some.product_id, some.kind)`;
const someLeft = `SELECT EXISTS (SELECT ${withoutTime}) AS answer`;
const pauseMs = 10;

/** When stock was taken and returned, changes the warehouse reports, and pieces sold that do not exist. Online; each step may be repeated. */
export class StockTimes1764000000009 implements MigrationInterface {
  readonly name = 'StockTimes1764000000009';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    if (!(await hasColumn(runner, 'stock_movements', 'moved_at'))) await changeBriefly(runner, addTime);
    await runner.query(adjustments);
    await changeBriefly(
      runner,
      'ALTER TABLE products ADD COLUMN IF NOT EXISTS oversold int NOT NULL DEFAULT 0',
    );
    await buildConcurrently(
      runner,
      'stock_movements_untimed',
      'INDEX',
      'stock_movements (order_id) WHERE moved_at IS NULL',
    );
    while (await ask(runner, someLeft)) {
      await runner.query(setTimes);
      await delay(pauseMs);
    }
    await dropConcurrently(runner, 'stock_movements_untimed');
    await buildConcurrently(
      runner,
      'stock_movements_of_product',
      'INDEX',
      'stock_movements (product_id, moved_at)',
    );
    await buildConcurrently(runner, 'products_oversold', 'INDEX', 'products (oversold) WHERE oversold > 0');
  }

  /** Forgets the changes the warehouse reported. */
  async down(runner: QueryRunner): Promise<void> {
    await dropConcurrently(runner, 'products_oversold');
    await dropConcurrently(runner, 'stock_movements_of_product');
    await changeBriefly(runner, 'ALTER TABLE products DROP COLUMN IF EXISTS oversold');
    await runner.query('DROP TABLE IF EXISTS stock_adjustments');
    await changeBriefly(runner, 'ALTER TABLE stock_movements DROP COLUMN IF EXISTS moved_at');
  }
}
