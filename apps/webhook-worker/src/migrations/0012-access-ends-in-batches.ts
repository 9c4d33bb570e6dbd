import { buildConcurrently, changeBriefly, hasColumn } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const table = 'webhook_ended_access';

/** Access whose subscriptions have not all been ended yet (subscriptions/end-access.ts). Old workers end all of them in one transaction: the default. */
export class AccessEndsInBatches1764000000012 implements MigrationInterface {
  readonly name = 'AccessEndsInBatches1764000000012';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    if (!(await hasColumn(runner, table, 'unfinished')))
      await changeBriefly(
        runner,
        `ALTER TABLE ${table} ADD COLUMN unfinished boolean NOT NULL DEFAULT false`,
      );
    await buildConcurrently(runner, `${table}_unfinished`, 'INDEX', `${table} (ended_at) WHERE unfinished`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, `ALTER TABLE ${table} DROP COLUMN IF EXISTS unfinished`);
  }
}
