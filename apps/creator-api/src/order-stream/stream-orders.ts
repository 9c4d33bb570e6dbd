import { type Caller, RevokedTokens, SignedCursors, tenantKey } from '@fulfilment/http-service';
import { CLOCK, type Clock } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { textStream, type WriteText } from '../text-output/text-stream.js';
import { orderSummary } from '../orders/order.view.js';
import { selectCreator } from '../visibility/select-creator.js';
import { Visibility } from '../visibility/visibility.js';
import { type FeedPosition, OrderFeeds, type PositionedOrder, readNewOrders } from './order-feeds.js';
import { type ActiveStream, ActiveStreams } from './active-streams.job.js';

/** Below the read timeout of the gateway (30 s). */
export const heartbeatMs = 15_000;
/** Delay after which a client reconnects, sent in the field `retry`. */
const reconnectDelayMs = 1_000;
/** Time that a client has to read the rest of the stream after its token has expired. */
const graceMs = 60_000;

interface StreamRequest {
  readonly caller: Caller;
  readonly creatorId: string;
  readonly lastEventId: string | undefined;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/** Streams the new orders of a creator as server-sent events. */
@Injectable()
export class StreamOrders {
  constructor(
    private readonly visibility: Visibility,
    private readonly cursors: SignedCursors,
    private readonly streams: ActiveStreams,
    private readonly feeds: OrderFeeds,
    private readonly revoked: RevokedTokens,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * The stream ends when the client disconnects, the token expires or is revoked, the creator is no longer
   * visible, or the service stops.
   * @throws NotFound when the creator is not visible; RateLimited when too many streams are open
   */
  async run(request: StreamRequest): Promise<Readable> {
    const { caller, creatorId } = request;
    await this.visibility.snapshot(caller, (tx) => selectCreator(tx, creatorId));
    const stream = this.streams.open(tenantKey(caller), creatorId);
    return textStream(
      async (write) => {
        try {
          await this.send(stream, request, write);
        } finally {
          this.streams.close(stream);
        }
      },
      this.remainingMs(caller) + graceMs,
    );
  }

  private async send(stream: ActiveStream, request: StreamRequest, write: WriteText): Promise<void> {
    const { caller, creatorId, lastEventId, signal } = request;
    const feed = await this.feeds.begin(creatorId);
    const resumed = this.resumedPosition(creatorId, feed, lastEventId);
    let position = resumed ?? feed.position;
    // The position of the feed before the last read. After a read without orders, all orders up to it were
    // sent; `position` may be lower, since each stream that begins raises the position of its feed.
    let readUpTo = feed.position;
    const firstEvent = lastEventId !== undefined && resumed === undefined ? 'reset' : 'open';
    // A cursor whose time is the position: both are in microseconds (order-feeds.ts).
    const eventId = (orderPosition: number): string =>
      this.cursors.seal(['order-stream', creatorId], { micros: orderPosition, id: feed.id });
    await write(`retry: ${reconnectDelayMs}\n${formatEvent(firstEvent, eventId(position), {})}`);
    let heartbeatAtMs = performance.now() + heartbeatMs;
    while (!signal.aborted && !this.streams.isStopping) {
      if (await this.tokenHasEnded(caller)) return;
      const orders = await this.read(caller, creatorId, position);
      for (const order of orders) {
        // A write may have waited for the client for a long time.
        if (await this.tokenHasEnded(caller)) return;
        position = order.position;
        await write(formatEvent('order.created', eventId(position), orderSummary(order)));
      }
      if (orders.length > 0) continue;
      const newPosition = await this.streams.waitForNewOrder(stream, {
        position: Math.max(position, readUpTo),
        timeoutMs: Math.max(0, Math.min(heartbeatAtMs - performance.now(), this.remainingMs(caller))),
        signal,
      });
      readUpTo = newPosition ?? readUpTo;
      if (performance.now() < heartbeatAtMs) continue;
      await this.feeds.keepAlive(creatorId);
      await write(': heartbeat\n\n');
      heartbeatAtMs = performance.now() + heartbeatMs;
    }
  }

  private async tokenHasEnded(caller: Caller): Promise<boolean> {
    return this.remainingMs(caller) <= 0 || (await this.revoked.has(caller.tokenId));
  }

  private remainingMs({ tokenExpiresAt }: Caller): number {
    return tokenExpiresAt.getTime() - this.clock().getTime();
  }

  private read(caller: Caller, creatorId: string, position: number): Promise<PositionedOrder[]> {
    return this.visibility.snapshot(caller, async (tx) => {
      await selectCreator(tx, creatorId);
      return readNewOrders(tx, creatorId, position);
    });
  }

  /** Returns the position of an event, or undefined if entries after it may have been deleted. */
  private resumedPosition(
    creatorId: string,
    feed: FeedPosition,
    lastEventId: string | undefined,
  ): number | undefined {
    if (lastEventId === undefined) return undefined;
    try {
      const { micros: position, id } = this.cursors.open(['order-stream', creatorId], lastEventId);
      return id === feed.id && position >= feed.oldestPosition ? position : undefined;
    } catch {
      return undefined; // forged, or of another creator
    }
  }
}

/** Formats a server-sent event. */
function formatEvent(event: string, id: string, data: object): string {
  return `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
}
