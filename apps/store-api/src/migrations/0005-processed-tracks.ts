import { buildConcurrently, changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the Creator API says of a release's tracks, which may be said before the release itself. */
export class ProcessedTracks1764000000005 implements MigrationInterface {
  name = 'ProcessedTracks1764000000005';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- No foreign key: a track may come before its release.
      CREATE TABLE IF NOT EXISTS processed_tracks (
        release_id uuid NOT NULL,
        track_id uuid NOT NULL,
        title text,
        -- The place the file's tags name.
        position int CHECK (position >= 1),
        duration_seconds int NOT NULL,
        -- Of the newest version of it, and of the first: whatever the order they come in.
        processed_at timestamptz NOT NULL,
        first_processed_at timestamptz NOT NULL,
        PRIMARY KEY (release_id, track_id)
      );
    `);
    // Null for those the operator loaded with the catalogue.
    await changeBriefly(runner, 'ALTER TABLE tracks ADD COLUMN IF NOT EXISTS track_id uuid');
    await buildConcurrently(
      runner,
      'tracks_once',
      'UNIQUE INDEX',
      'tracks (product_id, track_id) WHERE track_id IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DELETE FROM tracks WHERE track_id IS NOT NULL;
      ALTER TABLE tracks DROP COLUMN track_id;
      DROP TABLE processed_tracks;
    `);
  }
}
