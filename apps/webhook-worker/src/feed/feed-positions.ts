import { uuidv7 } from '@fulfilment/contracts';
import { type Database, pipelined, type Sql, statement } from '@fulfilment/database';
import { currentApiVersion } from '../subscriptions/subscription.rules.js';

/** Maximum number of events that get a position in one read: more than a page, so the rest can wait. */
const maxAssignedPositions = 500;

const find = statement(
  'feed.find',
  `SELECT id, last_position AS "lastPosition", read_at < now() - interval '1 hour' AS "readLongAgo"
   FROM webhook_event_feeds WHERE creator_id = $1`,
);
const open = statement(
  'feed.open',
  `INSERT INTO webhook_event_feeds (creator_id, id, api_version) VALUES ($1, $2, $3) ON CONFLICT (creator_id) DO NOTHING`,
);
// Runs at most once an hour (`readLongAgo`), which is exact enough for the end of a feed after 30 days.
const recordRead = statement(
  'feed.record-read',
  'UPDATE webhook_event_feeds SET read_at = now() WHERE creator_id = $1',
);

export interface Feed {
  /** A feed that begins after the end of an earlier one has another id. */
  readonly id: string;
  /** The highest position that was given to an event. */
  readonly lastPosition: number;
}

/**
 * Returns the feed of a creator. The first call begins it: fan-out keeps every event from then on. A feed
 * that was just inserted, here or by a concurrent request, is found in the next pass of the loop.
 */
export async function openFeed(sql: Sql, creatorId: string): Promise<Feed> {
  for (;;) {
    const found = await sql.row<Feed & { readonly readLongAgo: boolean }>(find, [creatorId]);
    if (found === undefined) await sql.run(open, [creatorId, uuidv7(), currentApiVersion]);
    else {
      if (found.readLongAgo) await sql.run(recordRead, [creatorId]);
      return found;
    }
  }
}

const findEventWithoutPosition = statement(
  'feed.find-event-without-position',
  'SELECT 1 AS found FROM webhook_events WHERE creator_id = $1 AND feed_position = 0 LIMIT 1',
);
const lock = statement(
  'feed.lock',
  'SELECT FROM webhook_event_feeds WHERE creator_id = $1 FOR NO KEY UPDATE',
);
// Gives only committed events a position, above every position that was ever returned. The current time as
// the minimum ensures this also after a backup has been restored.
const assign = statement(
  'feed.assign-positions',
  `WITH new_events AS MATERIALIZED (
     SELECT day, id, api_version, row_number() OVER (ORDER BY id) AS number FROM (
       SELECT day, id, api_version FROM webhook_events WHERE creator_id = $1 AND feed_position = 0 ORDER BY id LIMIT ${maxAssignedPositions}
     ) AS first
   ), feed AS (
     SELECT greatest(last_position, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS base
     FROM webhook_event_feeds WHERE creator_id = $1
   ), assigned AS (
     UPDATE webhook_events e SET feed_position = feed.base + n.number FROM new_events n, feed
     WHERE e.day = n.day AND e.id = n.id AND e.api_version = n.api_version
   )
   UPDATE webhook_event_feeds f SET last_position = feed.base + (SELECT count(*) FROM new_events), read_at = now()
   FROM feed WHERE f.creator_id = $1`,
);

/**
 * Gives the new events of a feed their positions. An event of a transaction that is still open is not visible
 * yet: it gets a later position than any that was read before, so that no reader skips it.
 */
export async function assignPositions(database: Database, creatorId: string): Promise<void> {
  if ((await database.row(findEventWithoutPosition, [creatorId])) === undefined) return;
  await database.transaction(async (tx) => {
    // PostgreSQL runs the second statement when the first has the lock: its snapshot has the positions that
    // the previous holder of the lock assigned.
    await pipelined([tx.run(lock, [creatorId]), tx.run(assign, [creatorId])]);
  });
}

const readPage = statement(
  'feed.page',
  `SELECT feed_position AS position, body FROM webhook_events
   WHERE creator_id = $1 AND feed_position > greatest($2::bigint, 0) ORDER BY feed_position LIMIT $3`,
);

export interface PositionedEvent {
  readonly position: number;
  readonly body: Buffer;
}

/** Returns the events after a position, in the order of the feed. */
export function readEventsAfter(
  sql: Sql,
  creatorId: string,
  position: number,
  limit: number,
): Promise<PositionedEvent[]> {
  return sql.rows<PositionedEvent>(readPage, [creatorId, position, limit]);
}

// The second condition on `read_at` keeps a feed that was read while this statement waited for its row lock.
const deleteUnread = statement(
  'feed.delete-unread',
  `DELETE FROM webhook_event_feeds WHERE creator_id = ANY(ARRAY(
     SELECT creator_id FROM webhook_event_feeds WHERE read_at < now() - interval '30 days' LIMIT 1000))
     AND read_at < now() - interval '30 days'`,
);

/** Deletes up to 1000 feeds that were not read for 30 days. Returns their number. */
export function deleteUnreadFeeds(database: Database): Promise<number> {
  return database.run(deleteUnread);
}
