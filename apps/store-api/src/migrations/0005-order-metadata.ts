import { changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Keys and values of the client. An earlier release neither reads nor writes them. */
export class OrderMetadata implements MigrationInterface {
  readonly name = 'OrderMetadata1795651260000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(
      runner,
      "ALTER TABLE orders ADD COLUMN IF NOT EXISTS metadata jsonb NOT NULL DEFAULT '{}'",
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, 'ALTER TABLE orders DROP COLUMN IF EXISTS metadata');
  }
}
