import { changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const setDefault = (value: string): string =>
  `ALTER TABLE webhook_deliveries ALTER COLUMN created_at SET DEFAULT ${value}`;

// As it is shown, so that a time that was read from a delivery finds, or leaves out, that delivery as the filters say. Partitions have it, too.
export class WholeMilliseconds1764000000007 implements MigrationInterface {
  readonly name = 'WholeMilliseconds1764000000007';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, setDefault("date_trunc('milliseconds', now())"));
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, setDefault('now()'));
  }
}
