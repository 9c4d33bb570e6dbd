import { buildConcurrently, changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const tables = ['webhook_alignments', 'webhook_recoveries'];

/** The next bulk updates are found by an index and not by reading and sorting all of them (moves/move-deliveries.ts). */
export class BulkUpdatesByDueTime1764000000010 implements MigrationInterface {
  readonly name = 'BulkUpdatesByDueTime1764000000010';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const table of tables) await buildConcurrently(runner, `${table}_due`, 'INDEX', `${table} (due_at)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of tables) await changeBriefly(runner, `DROP INDEX IF EXISTS ${table}_due`);
  }
}
