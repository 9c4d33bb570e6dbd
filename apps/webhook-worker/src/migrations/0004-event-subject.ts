import { buildOnPartitionsConcurrently, changeBriefly } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The order or product that an event is about, so that its deliveries are found. Null for test events. */
export class EventSubject implements MigrationInterface {
  readonly name = 'EventSubject1795564800000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, 'ALTER TABLE webhook_events ADD COLUMN IF NOT EXISTS subject_id uuid');
    await buildOnPartitionsConcurrently(
      runner,
      'webhook_events_subject',
      'webhook_events',
      '(subject_id) WHERE subject_id IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeBriefly(runner, 'ALTER TABLE webhook_events DROP COLUMN IF EXISTS subject_id');
  }
}
