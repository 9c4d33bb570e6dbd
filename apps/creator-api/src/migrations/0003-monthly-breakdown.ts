import type { MigrationInterface, QueryRunner } from 'typeorm';
import { allowReadingOwnRows } from './row-security.js';

/**
 * Sums of the ledger by what orders and lines say beyond the ledger. Rows of the time before this migration
 * are added by `statistics rebuild`; the country and platform of earlier orders by `ops creator rebuild`.
 */
export class MonthlyBreakdown implements MigrationInterface {
  readonly name = 'MonthlyBreakdown1795651200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE orders ADD COLUMN country_code text, ADD COLUMN platform text');
    await runner.query(`
      -- '' where the order did not say it. numeric: a sum of bigints may be larger.
      CREATE TABLE monthly_breakdown (
        creator_id uuid NOT NULL,
        currency text NOT NULL,
        period text NOT NULL,
        release_id uuid NOT NULL,
        product_type text NOT NULL,
        country_code text NOT NULL,
        platform text NOT NULL,
        units numeric NOT NULL,
        revenue numeric NOT NULL,
        royalties numeric NOT NULL,
        PRIMARY KEY (creator_id, currency, period, release_id, product_type, country_code, platform)
      );
      ${allowReadingOwnRows('monthly_breakdown')}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE monthly_breakdown');
    await runner.query('ALTER TABLE orders DROP COLUMN country_code, DROP COLUMN platform');
  }
}
