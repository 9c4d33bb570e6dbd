import { buildConcurrently, dropConcurrently } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds the uploads that ended longest ago (track-uploads/delete-old-uploads.ts). */
export class OldUploads1764000000008 implements MigrationInterface {
  readonly name = 'OldUploads1764000000008';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildConcurrently(
      runner,
      'track_uploads_ended',
      'INDEX',
      `track_uploads (updated_at) WHERE status IN ('completed', 'failed')`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropConcurrently(runner, 'track_uploads_ended');
  }
}
