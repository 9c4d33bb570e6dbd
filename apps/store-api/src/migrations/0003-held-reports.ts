import { buildConcurrently, changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const heldReports = `
  CREATE TABLE IF NOT EXISTS held_reports (
    message_id uuid PRIMARY KEY,
    order_id uuid NOT NULL REFERENCES orders ON DELETE CASCADE,
    occurred_at timestamptz NOT NULL,
    body jsonb NOT NULL,
    held_at timestamptz NOT NULL DEFAULT now(),
    -- When it is sent again to its queue by itself.
    retry_at timestamptz NOT NULL
  );
  CREATE INDEX IF NOT EXISTS held_reports_of_order ON held_reports (order_id, occurred_at);
  CREATE INDEX IF NOT EXISTS held_reports_due ON held_reports (retry_at)`;
const allowHeld = `
  ALTER TABLE inbox DROP CONSTRAINT IF EXISTS inbox_outcome_check;
  ALTER TABLE inbox ADD CONSTRAINT inbox_outcome_check CHECK (outcome IN ('applied', 'refused', 'held')) NOT VALID`;

/** Reports of the warehouse that come before what they build on wait; editions get their artist when the creator is known. */
export class HeldReports1764000000003 implements MigrationInterface {
  name = 'HeldReports1764000000003';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, heldReports);
    await changeBriefly(runner, allowHeld);
    await runner.query('ALTER TABLE inbox VALIDATE CONSTRAINT inbox_outcome_check');
    // For each of packages: the numbers it had before, and when its tracking was reported.
    await changeBriefly(
      runner,
      "ALTER TABLE orders ADD COLUMN IF NOT EXISTS package_history jsonb NOT NULL DEFAULT '[]'",
    );
    await buildConcurrently(
      runner,
      'releases_without_artist',
      'INDEX',
      "releases (creator_id) WHERE artist_name = ''",
    );
    // Searched without the difference of case: ß is SS in capitals, and a sigma has two small forms.
    await runner.query(
      "UPDATE releases SET search_text = replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ') WHERE search_text ~ '[ßς]'",
    );
  }

  /** What is held is forgotten: the old shape has no place for it. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP INDEX releases_without_artist;
      ALTER TABLE orders DROP COLUMN package_history;
      DELETE FROM inbox WHERE outcome = 'held';
      ALTER TABLE inbox DROP CONSTRAINT inbox_outcome_check;
      ALTER TABLE inbox ADD CONSTRAINT inbox_outcome_check CHECK (outcome IN ('applied', 'refused'));
      DROP TABLE held_reports;
    `);
  }
}
