import { buildOnPartitionsConcurrently, changeWithLockTimeout } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The feeds of creators, and the position of an event in the feed of its creator (ADR 57). */
export class EventFeed implements MigrationInterface {
  readonly name = 'EventFeed1795658400000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeWithLockTimeout(
      runner,
      `CREATE TABLE IF NOT EXISTS webhook_event_feeds (
         creator_id uuid PRIMARY KEY,
         id uuid NOT NULL,
         api_version text NOT NULL,
         last_position bigint NOT NULL DEFAULT 0,
         read_at timestamptz NOT NULL DEFAULT now()
       ) WITH (fillfactor = 70)`,
    );
    // Null: not part of a feed. 0: no position yet.
    await changeWithLockTimeout(
      runner,
      'ALTER TABLE webhook_events ADD COLUMN IF NOT EXISTS feed_position bigint',
    );
    await buildOnPartitionsConcurrently(
      runner,
      'webhook_events_feed',
      'webhook_events',
      '(creator_id, feed_position, id) WHERE feed_position IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeWithLockTimeout(runner, 'ALTER TABLE webhook_events DROP COLUMN IF EXISTS feed_position');
    await changeWithLockTimeout(runner, 'DROP TABLE IF EXISTS webhook_event_feeds');
  }
}
