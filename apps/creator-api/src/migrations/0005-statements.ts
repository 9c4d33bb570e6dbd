import { changeWithLockTimeout } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { allowReadingOwnOrSelectedRows } from './row-security.js';

// SQL that creates the table of creators' statements. An interrupted migration is repeated, so the policies
// that it has already created are dropped first.
const statements = `
  -- Append-only: what a creator earned in a closed month. The digest is that of the CSV file with its ledger lines.
  CREATE TABLE IF NOT EXISTS statements (
    creator_id uuid NOT NULL,
    number int NOT NULL CHECK (number > 0),
    period text NOT NULL,
    currency text NOT NULL,
    lines bigint NOT NULL,
    units numeric NOT NULL,
    revenue numeric NOT NULL,
    royalties numeric NOT NULL,
    csv_bytes bigint NOT NULL,
    csv_sha256 bytea NOT NULL,
    issued_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (creator_id, number),
    UNIQUE (creator_id, period, currency)
  );
  CREATE OR REPLACE FUNCTION refuse_statement_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'Statements are append-only.'; END $$;
  CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON statements
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement_change();
  DROP POLICY IF EXISTS member ON statements;
  DROP POLICY IF EXISTS operator ON statements;
  ${allowReadingOwnOrSelectedRows('statements')}`;

/** Numbered statements of closed months (ADR 28). */
export class Statements implements MigrationInterface {
  readonly name = 'Statements1795824000000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeWithLockTimeout(runner, statements);
    // All statements of months before `statements_before` are issued.
    await changeWithLockTimeout(
      runner,
      `ALTER TABLE statistics_close ADD COLUMN IF NOT EXISTS statements_before text NOT NULL DEFAULT '0001-01'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeWithLockTimeout(
      runner,
      'ALTER TABLE statistics_close DROP COLUMN IF EXISTS statements_before',
    );
    await changeWithLockTimeout(
      runner,
      'DROP TABLE IF EXISTS statements; DROP FUNCTION IF EXISTS refuse_statement_change',
    );
  }
}
