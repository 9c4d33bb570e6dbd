import { buildConcurrently, dropConcurrently } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const indexes = [
  { name: 'audit_log_at', on: 'audit_log (at, position)' },
  { name: 'audit_log_event', on: 'audit_log (event, at, position)' },
  { name: 'audit_log_of_user', on: 'audit_log (user_id, at, position) WHERE user_id IS NOT NULL' },
  { name: 'audit_log_of_client', on: 'audit_log (client_id, at, position) WHERE client_id IS NOT NULL' },
];

/** An index for each way the audit log is read (`ops audit`), in the order of its pages. */
export class AuditIndexes implements MigrationInterface {
  readonly name = 'AuditIndexes1767225603000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const { name, on } of indexes) await buildConcurrently(runner, name, 'INDEX', on);
    await dropConcurrently(runner, 'audit_log_user');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX audit_log_user ON audit_log (user_id, position) WHERE user_id IS NOT NULL;
      DROP INDEX audit_log_at, audit_log_event, audit_log_of_user, audit_log_of_client;
    `);
  }
}
