import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * An index for each way the audit log is read (`ops audit`), in the order of its pages. Not made CONCURRENTLY: that waits for every
 * open transaction, also for that of a second migrator which waits for the first.
 */
export class AuditIndexes implements MigrationInterface {
  readonly name = 'AuditIndexes1767225603000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX audit_log_at ON audit_log (at, position);
      CREATE INDEX audit_log_event ON audit_log (event, at, position);
      CREATE INDEX audit_log_of_user ON audit_log (user_id, at, position) WHERE user_id IS NOT NULL;
      CREATE INDEX audit_log_of_client ON audit_log (client_id, at, position) WHERE client_id IS NOT NULL;
      DROP INDEX audit_log_user;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX audit_log_user ON audit_log (user_id, position) WHERE user_id IS NOT NULL;
      DROP INDEX audit_log_at, audit_log_event, audit_log_of_user, audit_log_of_client;
    `);
  }
}
