import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Counts of guesses at passwords and codes (docs/adr/0029). Both new tables are empty, and the new column has a constant default. */
export class GuessCounts implements MigrationInterface {
  readonly name = 'GuessCounts1767225606000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      SET LOCAL lock_timeout = '2s';
      -- UNLOGGED: a count is worth minutes, and a commit that waits for no disk keeps a sign-in fast.
      CREATE UNLOGGED TABLE guess_counts (
        subject text PRIMARY KEY,
        failed integer NOT NULL DEFAULT 0,
        failed_at timestamptz,
        trying integer NOT NULL DEFAULT 0,
        trying_until timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL DEFAULT now(),
        locked_attempts integer NOT NULL DEFAULT 0,
        locked_from timestamptz,
        locked_until timestamptz,
        locked_record jsonb
      ) WITH (fillfactor = 50);
      CREATE INDEX guess_counts_expires ON guess_counts (expires_at);
      CREATE INDEX guess_counts_locked ON guess_counts (locked_until) WHERE locked_attempts > 0;

      CREATE UNLOGGED TABLE network_sign_ins (
        network text NOT NULL,
        user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
        signed_in_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (network, user_id)
      );
      CREATE INDEX network_sign_ins_at ON network_sign_ins (signed_in_at);

      ALTER TABLE second_factors ADD COLUMN wrong_codes integer NOT NULL DEFAULT 0;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE second_factors DROP COLUMN wrong_codes;
      DROP TABLE network_sign_ins, guess_counts;
    `);
  }
}
