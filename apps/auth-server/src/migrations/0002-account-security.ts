import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Second factors, and what people see of the browsers they are signed in with. */
export class AccountSecurity implements MigrationInterface {
  readonly name = 'AccountSecurity1767225601000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE second_factors (
        user_id uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
        secret_encrypted bytea NOT NULL,
        last_step bigint NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL DEFAULT now(),
        confirmed_at timestamptz
      );
      CREATE TABLE recovery_codes (
        user_id uuid NOT NULL REFERENCES second_factors (user_id) ON DELETE CASCADE,
        code_hash bytea NOT NULL,
        used_at timestamptz,
        PRIMARY KEY (user_id, code_hash)
      );
      CREATE TABLE browser_sessions (
        uid text PRIMARY KEY,
        user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        ip text NOT NULL,
        user_agent text,
        signed_in_at timestamptz NOT NULL DEFAULT now(),
        ended_at timestamptz,
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX browser_sessions_user ON browser_sessions (user_id, signed_in_at);
      CREATE INDEX browser_sessions_expires ON browser_sessions (expires_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE browser_sessions, recovery_codes, second_factors');
  }
}
