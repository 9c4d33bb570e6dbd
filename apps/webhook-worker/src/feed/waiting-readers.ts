import { BACKGROUND_DATABASE, type Database, statement } from '@fulfilment/database';
import { RateLimited, ServiceUnavailable } from '@fulfilment/error-envelope';
import { BackgroundLoop, type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';

const pollIntervalMs = 500;
/** Maximum number of requests that wait in this process. */
const maxWaiting = 500;
/** Maximum number of requests of one client that wait for events of one creator. */
const maxWaitingPerClient = 4;
/** Maximum number of requests of all clients that wait for events of one creator. */
const maxWaitingPerCreator = 20;
const retryAfterSeconds = 1;

// Events get their positions when the feed is read (feed-positions.ts); 0 means none yet. A new event has no
// position, or got one by a concurrent request.
const findReadersWithNewEvents = statement(
  'feed.find-readers-with-new-events',
  `SELECT w.index::int - 1 AS index FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS w(creator_id, position, index)
   WHERE EXISTS (SELECT FROM webhook_events e WHERE e.creator_id = w.creator_id AND e.feed_position = 0)
     OR EXISTS (SELECT FROM webhook_event_feeds f WHERE f.creator_id = w.creator_id AND f.last_position > w.position)`,
);

interface Reader {
  readonly creatorId: string;
  readonly position: number;
  /** The OAuth client of the request. */
  readonly clientId: string;
  readonly end: () => void;
}

export interface Wait extends Omit<Reader, 'end'> {
  readonly timeoutMs: number;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/**
 * Requests that wait for events. They hold no connection to the database: one statement polls for the events
 * of all of them. They end when the service stops, before its HTTP port closes.
 */
@Injectable()
export class WaitingReaders extends BackgroundLoop {
  override readonly stopsBeforeHttp = true;
  isStopping = false;
  private readonly readers = new Set<Reader>();

  constructor(
    @Inject(BACKGROUND_DATABASE) private readonly database: Database,
    @Inject(LOGGER) logger: Logger,
  ) {
    super({
      name: 'event-feed',
      intervalMs: pollIntervalMs,
      logger,
      round: () => this.endReadersWithNewEvents(),
    });
  }

  get count(): number {
    return this.readers.size;
  }

  /**
   * Resolves when there may be an event after the position, at the timeout, when the client disconnects, and
   * when the service stops.
   * @throws RateLimited when too many requests of the client or the creator wait; ServiceUnavailable when
   *   too many requests wait in this process
   */
  async wait({ creatorId, position, clientId, timeoutMs, signal }: Wait): Promise<void> {
    const ofCreator = [...this.readers].filter((reader) => reader.creatorId === creatorId);
    const ofClient = ofCreator.filter((reader) => reader.clientId === clientId);
    if (ofClient.length >= maxWaitingPerClient || ofCreator.length >= maxWaitingPerCreator)
      throw new RateLimited(retryAfterSeconds);
    if (this.readers.size >= maxWaiting)
      throw new ServiceUnavailable('Too many requests are waiting for events.');
    await new Promise<void>((resolve) => {
      const end = (): void => {
        this.readers.delete(reader);
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const reader = { creatorId, position, clientId, end };
      const timer = setTimeout(end, timeoutMs);
      signal.addEventListener('abort', end);
      this.readers.add(reader);
    });
  }

  override async stop(): Promise<void> {
    this.isStopping = true;
    for (const reader of this.readers) reader.end();
    await super.stop();
  }

  private async endReadersWithNewEvents(): Promise<void> {
    const waiting = [...this.readers];
    if (waiting.length === 0) return;
    const found = await this.database.rows<{ index: number }>(findReadersWithNewEvents, [
      waiting.map(({ creatorId }) => creatorId),
      waiting.map(({ position }) => position),
    ]);
    for (const { index } of found) waiting[index]?.end();
  }
}
