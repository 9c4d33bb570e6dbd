import { ask, changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const someLeft = 'SELECT EXISTS (SELECT FROM users WHERE email_verified) AS answer';
const setSome = `
  UPDATE users SET email_verified = false
  WHERE id = ANY(ARRAY(SELECT id FROM users WHERE email_verified LIMIT 1000 FOR UPDATE SKIP LOCKED))`;

/** An e-mail address counts as verified once somebody verified it. Until now the column said so of every address. */
export class UnverifiedEmails implements MigrationInterface {
  readonly name = 'UnverifiedEmails1767225607000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, 'ALTER TABLE users ALTER COLUMN email_verified SET DEFAULT false');
    while (await ask(runner, someLeft)) await runner.query(setSome);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE users ALTER COLUMN email_verified SET DEFAULT true');
  }
}
