import { buildConcurrently, dropConcurrently } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes for the claims of track uploads (ADR 75). */
export class DueUploads implements MigrationInterface {
  readonly name = 'DueUploads1796169600000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildConcurrently(
      runner,
      'track_uploads_due',
      'INDEX',
      'track_uploads (creator_id, due_at) WHERE due_at IS NOT NULL',
    );
    // The condition is not on `lease_until`, so that a renewal need not change the index.
    await buildConcurrently(
      runner,
      'track_uploads_leased',
      'INDEX',
      'track_uploads (creator_id) WHERE lease_token IS NOT NULL',
    );
    await dropConcurrently(runner, 'track_uploads_not_over'); // only the scan of the earlier version used it
  }

  async down(runner: QueryRunner): Promise<void> {
    await buildConcurrently(
      runner,
      'track_uploads_not_over',
      'INDEX',
      "track_uploads (id) WHERE status IN ('pending', 'processing')",
    );
    await dropConcurrently(runner, 'track_uploads_leased');
    await dropConcurrently(runner, 'track_uploads_due');
  }
}
