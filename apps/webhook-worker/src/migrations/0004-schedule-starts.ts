import { changeWithLockTimeout } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Number of attempts that a delivery had before its last recovery, which restarted its schedule. */
export class ScheduleStarts implements MigrationInterface {
  readonly name = 'ScheduleStarts1795831200000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeWithLockTimeout(
      runner,
      'ALTER TABLE webhook_deliveries ADD COLUMN IF NOT EXISTS attempts_before_schedule int NOT NULL DEFAULT 0',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeWithLockTimeout(
      runner,
      'ALTER TABLE webhook_deliveries DROP COLUMN IF EXISTS attempts_before_schedule',
    );
  }
}
