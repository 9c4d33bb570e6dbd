import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Test creators (ADR 66). Earlier creators are live. */
export class TestCreators implements MigrationInterface {
  readonly name = 'TestCreators1795737600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE creators ADD COLUMN test boolean NOT NULL DEFAULT false');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE creators DROP COLUMN test');
  }
}
