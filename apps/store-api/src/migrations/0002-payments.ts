import { ask, buildConcurrently, changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const keyHasAttempt = `
  SELECT EXISTS (SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
                 WHERE i.indrelid = 'stock_movements'::regclass AND i.indisprimary AND a.attname = 'attempt') AS answer`;
const changeKey = `
  ALTER TABLE stock_movements DROP CONSTRAINT stock_movements_pkey;
  ALTER TABLE stock_movements ADD CONSTRAINT stock_movements_pkey PRIMARY KEY USING INDEX stock_movements_of_attempt`;

/** An order may be charged, and take its stock, more than once; the provider's own name of a charge is kept. */
export class Payments1764000000002 implements MigrationInterface {
  name = 'Payments1764000000002';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // Stripe's PaymentIntent, known once Stripe has responded. The sandbox has none.
    await changeBriefly(runner, 'ALTER TABLE charges ADD COLUMN IF NOT EXISTS provider_reference text');
    // Two attempts at the same time would be two charges.
    await buildConcurrently(
      runner,
      'charges_one_open',
      'UNIQUE INDEX',
      "charges (order_id) WHERE status = 'pending'",
    );
    // ord_…, as the provider knows it: a second charge of an order shows, whatever its key.
    await changeBriefly(runner, 'ALTER TABLE sandbox_charges ADD COLUMN IF NOT EXISTS order_id text');
    await changeBriefly(
      runner,
      'ALTER TABLE stock_movements ADD COLUMN IF NOT EXISTS attempt int NOT NULL DEFAULT 1',
    );
    if (await ask(runner, keyHasAttempt)) return;
    await buildConcurrently(
      runner,
      'stock_movements_of_attempt',
      'UNIQUE INDEX',
      'stock_movements (order_id, attempt, product_id, kind)',
    );
    await changeBriefly(runner, changeKey);
  }

  /** Fails where an order took stock twice: the old shape cannot hold that. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE stock_movements DROP CONSTRAINT stock_movements_pkey;
      ALTER TABLE stock_movements ADD PRIMARY KEY (order_id, product_id, kind);
      ALTER TABLE stock_movements DROP COLUMN attempt;

      ALTER TABLE sandbox_charges DROP COLUMN order_id;
      DROP INDEX charges_one_open;
      ALTER TABLE charges DROP COLUMN provider_reference;
    `);
  }
}
