import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Reports of the warehouse that come before what they build on wait; editions get their artist when the creator is known. */
export class HeldReports1764000000003 implements MigrationInterface {
  name = 'HeldReports1764000000003';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE held_reports (
        message_id uuid PRIMARY KEY,
        order_id uuid NOT NULL REFERENCES orders ON DELETE CASCADE,
        occurred_at timestamptz NOT NULL,
        body jsonb NOT NULL,
        held_at timestamptz NOT NULL DEFAULT now(),
        -- When it is sent again to its queue by itself.
        retry_at timestamptz NOT NULL
      );
      CREATE INDEX held_reports_of_order ON held_reports (order_id, occurred_at);
      CREATE INDEX held_reports_due ON held_reports (retry_at);

      ALTER TABLE inbox DROP CONSTRAINT inbox_outcome_check;
      ALTER TABLE inbox ADD CONSTRAINT inbox_outcome_check CHECK (outcome IN ('applied', 'refused', 'held'));

      -- For each of packages: the numbers it had before, and when its tracking was told.
      ALTER TABLE orders ADD COLUMN package_history jsonb NOT NULL DEFAULT '[]';

      CREATE INDEX releases_without_artist ON releases (creator_id) WHERE artist_name = '';
      -- Searched without the difference of case: ß is SS in capitals, and a sigma has two small forms.
      UPDATE releases SET search_text = replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ') WHERE search_text ~ '[ßς]';
    `);
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
