import { changeWithLockTimeout } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Test creators (ADR 66). Earlier creators are live. */
export class TestCreators implements MigrationInterface {
  readonly name = 'TestCreators1795910400000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeWithLockTimeout(
      runner,
      'ALTER TABLE creators ADD COLUMN IF NOT EXISTS test boolean NOT NULL DEFAULT false',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeWithLockTimeout(runner, 'ALTER TABLE creators DROP COLUMN IF EXISTS test');
  }
}
