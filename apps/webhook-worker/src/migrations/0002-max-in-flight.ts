import { changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const table = 'webhook_subscriptions';
const check = `${table}_max_in_flight_check`;

/** The owner's maximum of concurrent attempts. */
export class MaxInFlight implements MigrationInterface {
  readonly name = 'MaxInFlight1795392000000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(
      runner,
      `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS max_in_flight smallint NOT NULL DEFAULT 64,
         DROP CONSTRAINT IF EXISTS ${check},
         ADD CONSTRAINT ${check} CHECK (max_in_flight BETWEEN 1 AND 64) NOT VALID`,
    );
    await runner.query(`ALTER TABLE ${table} VALIDATE CONSTRAINT ${check}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, `ALTER TABLE ${table} DROP COLUMN IF EXISTS max_in_flight`);
  }
}
