import { webhookEnvelopeShape } from '@fulfilment/contracts';
import { Database } from '@fulfilment/database';
import { throwNotFound, ValidationFailed } from '@fulfilment/error-envelope';
import { type Caller, type CursorKey, SignedCursors } from '@fulfilment/http-service';
import { Injectable } from '@nestjs/common';
import { ownerOf } from '../subscriptions/owner.js';
import type { EventsQuery } from './feed.dto.js';
import {
  type Feed,
  assignPositions,
  openFeed,
  type PositionedEvent,
  readEventsAfter,
} from './feed-positions.js';
import type { FeedPage } from './feed.shapes.js';
import { WaitingReaders } from './waiting-readers.js';

/** Reads the events of a creator, in an order that never changes for a reader (ADR 57). */
@Injectable()
export class ReadEvents {
  constructor(
    private readonly database: Database,
    private readonly cursors: SignedCursors,
    private readonly readers: WaitingReaders,
  ) {}

  /**
   * Returns the next events. If there are none, waits up to `wait` seconds for one.
   * @param signal is aborted when the client disconnects
   * @throws NotFound without a creator; ValidationFailed on another feed's position; RateLimited,
   *   ServiceUnavailable when too many requests wait
   */
  async run(caller: Caller, { after, wait, limit }: EventsQuery, signal: AbortSignal): Promise<FeedPage> {
    const endsAtMs = performance.now() + wait * 1000;
    const { creatorId, clientId } = ownerOf(caller) ?? throwNotFound('creator');
    const boundTo = ['events', creatorId];
    const cursor = after === undefined ? undefined : this.cursors.open(boundTo, after, 'after');
    for (;;) {
      const feed = await openFeed(this.database, creatorId);
      const position = positionIn(feed, cursor);
      await assignPositions(this.database, creatorId);
      const rows = await readEventsAfter(this.database, creatorId, position, limit + 1);
      const timeoutMs = endsAtMs - performance.now();
      if (rows.length > 0 || timeoutMs <= 0 || signal.aborted || this.readers.isStopping) {
        const page = rows.slice(0, limit);
        const next = this.cursors.seal(boundTo, { micros: page.at(-1)?.position ?? position, id: feed.id });
        return { data: page.map(envelope), next, has_more: rows.length > limit };
      }
      await this.readers.wait({
        creatorId,
        position: Math.max(position, feed.lastPosition), // no event was found up to here
        clientId,
        timeoutMs,
        signal,
      });
    }
  }
}

/**
 * Returns the position of a cursor; without a cursor 0, the beginning of the feed. The members `id` and
 * `micros` of a cursor are the id of the feed and the position (microseconds since 1970, or slightly more).
 * @throws ValidationFailed on a position of a feed that has ended
 */
function positionIn(feed: Feed, cursor: CursorKey | undefined): number {
  if (cursor === undefined) return 0;
  if (cursor.id !== feed.id)
    throw new ValidationFailed([{ field: 'after', reason: 'is not a position of this feed' }]);
  return cursor.micros;
}

/** Parses the stored body of an event. The response serialises it to the same bytes. */
function envelope({ body }: PositionedEvent): FeedPage['data'][number] {
  return webhookEnvelopeShape.parse(JSON.parse(body.toString()));
}
