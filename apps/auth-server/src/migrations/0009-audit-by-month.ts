import { changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { z } from 'zod';

const plain = z.array(z.object({ plain: z.boolean(), ends: z.string() })).length(1);
const look = `
  SELECT relkind = 'r' AS plain,
    to_char(date_trunc('month', now() AT TIME ZONE 'UTC' + interval '1 day') + interval '1 month', 'YYYY-MM-DD') AS ends
  FROM pg_class WHERE oid = 'audit_log'::regclass`;
const indexes = {
  at: '(at, position)',
  event: '(event, at, position)',
  of_user: '(user_id, at, position) WHERE user_id IS NOT NULL',
  of_client: '(client_id, at, position) WHERE client_id IS NOT NULL',
} as const;

/**
 * Partitions the audit log by month, while services write it: the table becomes the first partition, up to the end of this month. No row moves
 * or is read under a lock. Later months and retention: audit/audit-months.ts. May be repeated wherever it was interrupted.
 */
export class AuditByMonth implements MigrationInterface {
  readonly name = 'AuditByMonth1767225609000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const [state] = plain.parse(await runner.query(look));
    if (state?.plain !== true) return;
    const { ends } = state;
    // Validated apart, so that attaching does not read the table.
    await changeBriefly(
      runner,
      `ALTER TABLE audit_log DROP CONSTRAINT IF EXISTS audit_log_earlier_months,
         ADD CONSTRAINT audit_log_earlier_months CHECK (at < '${ends} 00:00:00+00') NOT VALID`,
    );
    await changeBriefly(runner, 'ALTER TABLE audit_log VALIDATE CONSTRAINT audit_log_earlier_months');
    await changeBriefly(runner, swap(ends));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE audit_log DETACH PARTITION audit_log_earlier;
      INSERT INTO audit_log_earlier SELECT * FROM audit_log;
      DROP TABLE audit_log;
      ALTER TABLE audit_log_earlier RENAME TO audit_log;
      ${Object.keys(indexes)
        .map((name) => `ALTER INDEX audit_log_earlier_${name} RENAME TO audit_log_${name};`)
        .join('\n')}
      ALTER TABLE audit_log ALTER COLUMN position DROP DEFAULT;
      DROP SEQUENCE audit_log_positions;
      ALTER TABLE audit_log ALTER COLUMN position ADD GENERATED ALWAYS AS IDENTITY;
      SELECT setval(pg_get_serial_sequence('audit_log', 'position'), (SELECT coalesce(max(position), 0) + 1 FROM audit_log), false);
    `);
  }
}

function swap(ends: string): string {
  return `
    LOCK TABLE audit_log IN ACCESS EXCLUSIVE MODE;
    ALTER TABLE audit_log RENAME TO audit_log_earlier;
    ALTER TABLE audit_log_earlier ALTER COLUMN position DROP IDENTITY;
    CREATE SEQUENCE audit_log_positions AS bigint;
    SELECT setval('audit_log_positions', (SELECT coalesce(max(position), 0) + 1 FROM audit_log_earlier), false);
    ALTER TABLE audit_log_earlier ALTER COLUMN position SET DEFAULT nextval('audit_log_positions');
    CREATE TABLE audit_log (
      position bigint NOT NULL DEFAULT nextval('audit_log_positions'),
      at timestamptz NOT NULL DEFAULT now(),
      event text NOT NULL,
      user_id uuid,
      client_id text,
      ip text,
      user_agent text,
      details jsonb NOT NULL DEFAULT '{}'
    ) PARTITION BY RANGE (at);
    ${Object.entries(indexes)
      .map(
        ([name, columns]) => `
          ALTER INDEX audit_log_${name} RENAME TO audit_log_earlier_${name};
          CREATE INDEX audit_log_${name} ON audit_log ${columns};`,
      )
      .join('')}
    ALTER TABLE audit_log ATTACH PARTITION audit_log_earlier FOR VALUES FROM (MINVALUE) TO ('${ends} 00:00:00+00');
    ALTER TABLE audit_log_earlier DROP CONSTRAINT audit_log_earlier_months;
    CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
    DO $$ BEGIN
      FOR month IN 0..2 LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF audit_log FOR VALUES FROM (%L) TO (%L)',
          'audit_log_' || to_char(timestamp '${ends}' + month * interval '1 month', 'YYYY_MM'),
          (timestamp '${ends}' + month * interval '1 month') AT TIME ZONE 'UTC',
          (timestamp '${ends}' + (month + 1) * interval '1 month') AT TIME ZONE 'UTC');
        EXECUTE format('CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %I
          FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()',
          'audit_log_' || to_char(timestamp '${ends}' + month * interval '1 month', 'YYYY_MM'));
      END LOOP;
    END $$`;
}
