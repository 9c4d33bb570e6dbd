import { RateLimited } from '@fulfilment/error-envelope';
import { BackgroundLoop, type Logger, LOGGER } from '@fulfilment/runtime';
import { Inject, Injectable } from '@nestjs/common';
import { OrderFeeds } from './order-feeds.js';

const pollIntervalMs = 250;
/** Maximum number of streams of this process, and of one tenant in it. More are rejected with 429. */
const maxStreams = 500;
const maxStreamsPerTenant = 20;
const retryAfterSeconds = 5;

/** An open stream. */
export interface ActiveStream {
  readonly creatorId: string;
  readonly tenant: string;
  /** Set while the stream waits: the position up to which it has read, and a function to end the wait. */
  waiting?: { readonly position: number; readonly end: (newPosition?: number) => void };
}

/**
 * The open streams of this process. One loop polls for the new orders of all, so a stream that waits
 * holds no connection to the database. The streams end when the service stops, before its HTTP port closes.
 */
@Injectable()
export class ActiveStreams extends BackgroundLoop {
  override readonly stopsBeforeHttp = true;
  private readonly streams = new Set<ActiveStream>();
  private stopping = false;

  constructor(
    private readonly feeds: OrderFeeds,
    @Inject(LOGGER) logger: Logger,
  ) {
    super({ name: 'order-streams', intervalMs: pollIntervalMs, logger, round: () => this.round() });
  }

  get count(): number {
    return this.streams.size;
  }

  /** Number of streams that wait for a new order. */
  get waitingCount(): number {
    return this.waitingStreams().length;
  }

  get isStopping(): boolean {
    return this.stopping;
  }

  /** @throws RateLimited when the tenant, or this process, has too many streams */
  open(tenant: string, creatorId: string): ActiveStream {
    const tenantStreams = [...this.streams].filter((stream) => stream.tenant === tenant);
    if (tenantStreams.length >= maxStreamsPerTenant || this.streams.size >= maxStreams)
      throw new RateLimited(retryAfterSeconds);
    const stream: ActiveStream = { creatorId, tenant };
    this.streams.add(stream);
    return stream;
  }

  close(stream: ActiveStream): void {
    this.streams.delete(stream);
  }

  /**
   * Resolves with the new position of the feed when there may be an order after the given position; with
   * undefined after the timeout, or when the stream must end.
   */
  async waitForNewOrder(
    stream: ActiveStream,
    { position, timeoutMs, signal }: { position: number; timeoutMs: number; signal: AbortSignal },
  ): Promise<number | undefined> {
    if (this.stopping || signal.aborted) return undefined;
    return new Promise((resolve) => {
      const end = (newPosition?: number): void => {
        delete stream.waiting;
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        resolve(newPosition);
      };
      const abort = (): void => end();
      const timer = setTimeout(abort, timeoutMs);
      signal.addEventListener('abort', abort);
      stream.waiting = { position, end };
    });
  }

  override async stop(): Promise<void> {
    this.stopping = true;
    for (const stream of this.streams) stream.waiting?.end();
    await super.stop();
  }

  /** Ends the waits of streams whose creators have new orders. */
  async round(): Promise<void> {
    const waiting = this.waitingStreams();
    if (waiting.length === 0) return;
    const creators = [...new Set(waiting.map(({ creatorId }) => creatorId))];
    const positions = await this.feeds.assignAndReadPositions(creators);
    for (const stream of waiting) {
      const position = positions.get(stream.creatorId) ?? 0;
      if (stream.waiting && position > stream.waiting.position) stream.waiting.end(position);
    }
  }

  private waitingStreams(): ActiveStream[] {
    return [...this.streams].filter((stream) => stream.waiting !== undefined);
  }
}
