import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An order may be charged, and take its stock, more than once; the provider's own name of a charge is kept. */
export class Payments1764000000002 implements MigrationInterface {
  name = 'Payments1764000000002';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Stripe's PaymentIntent, known once Stripe has answered. The sandbox has none.
      ALTER TABLE charges ADD COLUMN provider_reference text;
      -- Two attempts at once would be two charges.
      CREATE UNIQUE INDEX charges_one_open ON charges (order_id) WHERE status = 'pending';

      -- ord_…, as a provider is told it: a second charge of an order shows, whatever its key.
      ALTER TABLE sandbox_charges ADD COLUMN order_id text;

      ALTER TABLE stock_movements ADD COLUMN attempt int NOT NULL DEFAULT 1;
      ALTER TABLE stock_movements DROP CONSTRAINT stock_movements_pkey;
      ALTER TABLE stock_movements ADD PRIMARY KEY (order_id, attempt, product_id, kind);
    `);
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
