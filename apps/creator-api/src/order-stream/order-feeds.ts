import { type Database, type Sql, statement } from '@fulfilment/database';
import { ServiceUnavailable } from '@fulfilment/error-envelope';
import { setTimeout as delay } from 'node:timers/promises';
import { orderColumns } from '../orders/order-columns.sql.js';
import type { OrderColumns } from '../orders/order.view.js';

// A trigger of `orders` (migration 0007) adds an entry for each new order of a creator with a feed.
// An entry has the position 0 until one is assigned (ADR 57).

const entriesPerBatch = 500;
const ordersPerPage = 100;
const writerPollIntervalMs = 25;
/** Far longer than the service usually writes orders in one transaction. */
const maxWriterWaitMs = 10_000;
/** SQL: the UNIX time in microseconds. A new position is at least this, so a position shows its age. */
const nowMicrosSql = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint';
const hourMicros = 3_600 * 1_000_000;
/** A stream continues after an event that is at most this old. */
const resumableHours = 24;
/** Entries are kept an hour longer, so that a stream that continues has time to read them. */
const keptHours = resumableHours + 1;

// A feed has the position 0 until its first stream has begun.
const store = statement(
  'order-feed.store',
  `INSERT INTO order_feeds AS feed (creator_id, last_position) VALUES ($1, 0)
   ON CONFLICT (creator_id) DO UPDATE SET read_at = now() RETURNING last_position = 0 AS "isNew"`,
);
// The transactions that are writing orders: they hold a lock on the table until they end. If $1 is not null,
// only those of an earlier result that still run.
const findWriters = statement(
  'order-feed.writers',
  `SELECT virtualtransaction AS id FROM pg_locks
   WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND relation = 'orders'::regclass
     AND mode = 'RowExclusiveLock' AND ($1::text[] IS NULL OR virtualtransaction = ANY($1))`,
);
// Waits for a transaction that is assigning positions, so the returned position is not below those.
const begin = statement(
  'order-feed.begin',
  `UPDATE order_feeds SET last_position = greatest(last_position, ${nowMicrosSql}), read_at = now() WHERE creator_id = $1
   RETURNING id, last_position AS position, ${nowMicrosSql} - ${resumableHours * hourMicros} AS "oldestPosition"`,
);
// Writes at most once an hour, far below the time after which a feed without a reader is deleted.
const keepAlive = statement(
  'order-feed.keep-alive',
  `UPDATE order_feeds SET read_at = now() WHERE creator_id = $1 AND read_at < now() - interval '1 hour'`,
);
// Leaves out feeds that no stream has begun yet: they keep the position 0.
const findWithoutPosition = statement(
  'order-feed.without-position',
  `SELECT creator.id FROM unnest($1::uuid[]) AS creator(id)
   WHERE (SELECT last_position > 0 FROM order_feeds WHERE creator_id = creator.id)
     AND EXISTS (SELECT FROM order_feed_entries WHERE creator_id = creator.id AND position = 0)`,
);
const lockFeed = statement(
  'order-feed.lock',
  'SELECT FROM order_feeds WHERE creator_id = $1 FOR NO KEY UPDATE',
);
// Only entries that were committed get positions, above every position that was ever returned.
const assignNextPositions = statement(
  'order-feed.assign-positions',
  `WITH new_entries AS MATERIALIZED (
     SELECT order_id, row_number() OVER (ORDER BY order_id) AS place FROM (
       SELECT order_id FROM order_feed_entries WHERE creator_id = $1 AND position = 0 ORDER BY order_id LIMIT ${entriesPerBatch}
     ) AS first
   ), feed AS (
     SELECT greatest(last_position, ${nowMicrosSql}) AS base FROM order_feeds WHERE creator_id = $1
   ), assigned AS (
     UPDATE order_feed_entries entry SET position = feed.base + new_entries.place FROM new_entries, feed
     WHERE entry.order_id = new_entries.order_id
   )
   UPDATE order_feeds SET last_position = feed.base + (SELECT count(*) FROM new_entries), read_at = now()
   FROM feed WHERE creator_id = $1`,
);
const readLastPositions = statement(
  'order-feed.last',
  'SELECT creator_id AS "creatorId", last_position AS position FROM order_feeds WHERE creator_id = ANY($1::uuid[])',
);
// `greatest` excludes the entries without a position.
const readPage = statement(
  'order-feed.page',
  `SELECT entry.position, ${orderColumns} FROM order_feed_entries entry JOIN orders o ON o.id = entry.order_id
   WHERE entry.creator_id = $1 AND entry.position > greatest($2::bigint, 0) ORDER BY entry.position LIMIT ${ordersPerPage}`,
);

export interface FeedPosition {
  /** Id of the feed. A feed that was deleted and started again has another id. */
  readonly id: string;
  /** Orders that arrive from now on have higher positions. */
  readonly position: number;
  /** A stream cannot continue after a lower position: entries after that may have been deleted. */
  readonly oldestPosition: number;
}

/** Writes the feeds of creators through the background database: the role of requests may not write them. */
export class OrderFeeds {
  constructor(
    private readonly database: Database,
    private readonly writerWaitMs = maxWriterWaitMs,
  ) {}

  /**
   * Begins or continues the feed of a creator: new orders are added to it from now on. Orders that were added
   * while no stream was open first get their positions, a batch at a time, so the returned position is above
   * theirs.
   * @throws ServiceUnavailable while a transaction that writes orders takes long
   */
  async begin(creatorId: string): Promise<FeedPosition> {
    const stored = await this.database.row<{ isNew: boolean }>(store, [creatorId]);
    if (stored?.isNew === true) await this.waitForWriters();
    for (;;) {
      const feed = await this.database.row<FeedPosition>(begin, [creatorId]);
      if (feed === undefined) throw new Error('The feed was deleted.');
      if ((await this.database.rows(findWithoutPosition, [[creatorId]])).length === 0) return feed;
      await this.assignAndReadPositions([creatorId]);
    }
  }

  /**
   * Waits for the transactions that are writing orders now. They may not have seen a new feed, so their
   * orders may have no entry; after this wait, a client finds them in the list.
   * @throws ServiceUnavailable if one takes too long; the next request waits again
   */
  private async waitForWriters(): Promise<void> {
    const readWriters = async (among: readonly string[] | null) =>
      (await this.database.rows<{ id: string }>(findWriters, [among])).map(({ id }) => id);
    const deadlineMs = performance.now() + this.writerWaitMs;
    let writers = await readWriters(null);
    while (writers.length > 0) {
      if (performance.now() > deadlineMs) throw new ServiceUnavailable();
      await delay(writerPollIntervalMs);
      writers = await readWriters(writers);
    }
  }

  /** Prevents the deletion of the feed of an open stream. */
  async keepAlive(creatorId: string): Promise<void> {
    await this.database.run(keepAlive, [creatorId]);
  }

  /** Assigns positions to at most 500 new orders of each creator. Returns the highest position of each. */
  async assignAndReadPositions(creatorIds: readonly string[]): Promise<Map<string, number>> {
    for (const { id } of await this.database.rows<{ id: string }>(findWithoutPosition, [creatorIds]))
      await this.database.transaction((tx) =>
        // The second statement starts when the first has the lock, so it sees the positions that the previous
        // holder of the lock assigned. COMMIT is sent with them, so a stalled replica does not keep the lock.
        Promise.resolve(tx.awaitAtCommit(tx.run(lockFeed, [id]), tx.run(assignNextPositions, [id]))),
      );
    const rows = await this.database.rows<{ creatorId: string; position: number }>(readLastPositions, [
      creatorIds,
    ]);
    return new Map(rows.map(({ creatorId, position }) => [creatorId, position]));
  }
}

export interface PositionedOrder extends OrderColumns {
  readonly position: number;
}

/** Returns the orders after a position, in the order of their positions, at most 100. */
export function readNewOrders(sql: Sql, creatorId: string, after: number): Promise<PositionedOrder[]> {
  return sql.rows<PositionedOrder>(readPage, [creatorId, after]);
}

// The age of an entry counts from the time in its position, since it may have waited for a reader for long
// before; without a position (0), from `added_at`. Row locks protect an entry that gets its position
// concurrently.
const deleteEntries = statement(
  'order-feed.delete-entries',
  `DELETE FROM order_feed_entries WHERE order_id = ANY(ARRAY(
     SELECT order_id FROM order_feed_entries
     WHERE added_at < now() - interval '${keptHours} hours' AND position < ${nowMicrosSql} - ${keptHours * hourMicros}
     LIMIT 1000 FOR UPDATE SKIP LOCKED))`,
);
// Row locks protect a feed that a client begins to read during the clean-up.
const deleteFeeds = statement(
  'order-feed.delete-feeds',
  `DELETE FROM order_feeds WHERE creator_id = ANY(ARRAY(
     SELECT creator_id FROM order_feeds WHERE read_at < now() - interval '${keptHours} hours' LIMIT 1000 FOR UPDATE SKIP LOCKED))`,
);

/** Deletes a batch of old entries, and of feeds without a reader. Returns the number of deleted rows. */
export async function deleteOldFeeds(database: Database): Promise<number> {
  return (await database.run(deleteEntries)) + (await database.run(deleteFeeds));
}
