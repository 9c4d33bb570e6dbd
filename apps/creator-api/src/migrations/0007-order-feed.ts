import { changeWithLockTimeout } from '@fulfilment/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { allowReadingOwnOrSelectedRows } from './row-security.js';

const feeds = `
  -- Creators whose new orders are streamed. last_position is the highest position that was ever given.
  CREATE TABLE IF NOT EXISTS order_feeds (
    creator_id uuid PRIMARY KEY,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    last_position bigint NOT NULL,
    read_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX IF NOT EXISTS order_feeds_read ON order_feeds (read_at);`;
const entries = `
  -- The new orders of these creators for a day; position 0 until a reader has numbered them.
  CREATE TABLE IF NOT EXISTS order_feed_entries (
    order_id uuid PRIMARY KEY,
    creator_id uuid NOT NULL,
    position bigint NOT NULL DEFAULT 0,
    added_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX IF NOT EXISTS order_feed_positions ON order_feed_entries (creator_id, position);
  CREATE INDEX IF NOT EXISTS order_feed_added ON order_feed_entries (added_at);
  DROP POLICY IF EXISTS member ON order_feed_entries;
  DROP POLICY IF EXISTS operator ON order_feed_entries;
  ${allowReadingOwnOrSelectedRows('order_feed_entries')}`;
// A trigger, so that replicas of the earlier version add their orders too. A rebuild also inserts old orders;
// the trigger adds only those of the last day.
const trigger = `
  CREATE OR REPLACE FUNCTION add_to_order_feeds() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO order_feed_entries (order_id, creator_id)
    SELECT added.id, added.creator_id FROM added JOIN order_feeds feed ON feed.creator_id = added.creator_id
    WHERE added.placed_at > now() - interval '1 day' ORDER BY added.id ON CONFLICT (order_id) DO NOTHING;
    RETURN NULL; END $$;
  CREATE OR REPLACE TRIGGER add_to_feeds AFTER INSERT ON orders REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION add_to_order_feeds();`;

/** Streams of new orders (ADR 57). */
export class OrderFeed implements MigrationInterface {
  readonly name = 'OrderFeed1795996800000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const change of [feeds, entries, trigger]) await changeWithLockTimeout(runner, change);
  }

  async down(runner: QueryRunner): Promise<void> {
    await changeWithLockTimeout(runner, 'DROP TRIGGER IF EXISTS add_to_feeds ON orders');
    await changeWithLockTimeout(runner, 'DROP FUNCTION IF EXISTS add_to_order_feeds');
    await changeWithLockTimeout(runner, 'DROP TABLE IF EXISTS order_feed_entries, order_feeds');
  }
}
