import { changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The id of a shipping rate contains its quote (docs/adr/0047), so orders store the id as text. */
export class SealedQuotes implements MigrationInterface {
  readonly name = 'SealedQuotes1795564800000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(
      runner,
      // Orders of stored quotes keep their rate_id.
      'ALTER TABLE orders ADD COLUMN IF NOT EXISTS shipping_rate_id text, ALTER COLUMN rate_id DROP NOT NULL',
    );
    await changeBriefly(runner, 'DROP TABLE IF EXISTS quotes');
  }

  down(): Promise<void> {
    throw new Error('Orders without a stored quote have no rate_id. Restore the database instead.');
  }
}
