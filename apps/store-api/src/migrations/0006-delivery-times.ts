import { changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Working days from the hand-over to the carrier until the delivery, as the operator promises them. */
export class DeliveryTimes implements MigrationInterface {
  readonly name = 'DeliveryTimes1795651320000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(
      runner,
      `CREATE TABLE IF NOT EXISTS delivery_times (
         service_id uuid NOT NULL REFERENCES shipping_services ON DELETE CASCADE,
         zone text NOT NULL,
         min_days int NOT NULL CHECK (min_days >= 0),
         max_days int NOT NULL CHECK (max_days >= min_days),
         PRIMARY KEY (service_id, zone)
       )`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, 'DROP TABLE IF EXISTS delivery_times');
  }
}
