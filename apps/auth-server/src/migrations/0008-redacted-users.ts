import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When an account's personal data was erased (`ops user redact`). */
export class RedactedUsers implements MigrationInterface {
  readonly name = 'RedactedUsers1767225608000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE users ADD COLUMN redacted_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE users DROP COLUMN redacted_at');
  }
}
