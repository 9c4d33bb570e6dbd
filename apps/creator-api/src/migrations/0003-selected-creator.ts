import { changeWithLockTimeout } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { tablesOfCreators, ownOrSelectedRow, ownRow } from './row-security.js';

const tables = [...tablesOfCreators, 'ledger'];

/** A request that has verified its creator reads the creator's rows without a check of each one. */
export class SelectedCreator implements MigrationInterface {
  readonly name = 'SelectedCreator1795564800000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const table of tables)
      await changeWithLockTimeout(
        runner,
        `ALTER POLICY member ON ${table} USING (${ownOrSelectedRow(table)})`,
      );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of tables)
      await changeWithLockTimeout(runner, `ALTER POLICY member ON ${table} USING (${ownRow(table)})`);
  }
}
