import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An e-mail address counts as verified once somebody verified it. Until now the column said so of every address. */
export class UnverifiedEmails implements MigrationInterface {
  readonly name = 'UnverifiedEmails1767225607000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE users ALTER COLUMN email_verified SET DEFAULT false;
      UPDATE users SET email_verified = false WHERE email_verified;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE users ALTER COLUMN email_verified SET DEFAULT true');
  }
}
