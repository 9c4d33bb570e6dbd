import { ApiError, type Client, ConnectionError, readEvents } from '@fulfilment/client/store';
import type { FeedEvent } from './forward.js';
import { Failure } from '../terminal.js';

/** Time after which the suite responds although there is no new event (long polling). */
const longPollSeconds = 20;
/** The delay between retries begins with the minimum, and doubles up to the maximum. */
const [minRetryDelayMs, maxRetryDelayMs] = [1_000, 30_000];

export interface FollowOptions {
  readonly client: Client;
  /** The position in the feed after which to begin; undefined begins with the oldest event. */
  readonly after: string | undefined;
  /** Begins after the newest event of the feed instead of `after`. */
  readonly skipOld: boolean;
  /** Called when all events up to the position are handled or skipped. */
  readonly savePosition: (position: string) => void;
  /** Called once: after old events were skipped, before the first event is handled. */
  readonly onReady: () => void;
  readonly handle: (event: FeedEvent) => Promise<void>;
  /** Prints a line for the person, when an outage begins and ends. */
  readonly note: (line: string) => void;
  readonly waitForRetry: (delayMs: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Handles the events of the feed one after another, until the signal aborts. Continues after outages of the
 * suite and of the network, such as the sleep of a laptop.
 * @throws Failure if the position is no longer valid
 * @throws ApiError, SignInRequiredError if a retry cannot succeed
 * @throws an error of the signal if it aborts during a request or a delay
 */
export async function followFeed(options: FollowOptions): Promise<void> {
  const { signal, handle, savePosition, onReady } = options;
  let after = options.after;
  if (options.skipOld) {
    after = await findEnd(options);
    savePosition(after);
  }
  onReady();
  while (!signal.aborted) {
    const page = await readPage(options, after, longPollSeconds);
    for (const event of page.data) await handle(event);
    if (page.next !== after) savePosition(page.next);
    after = page.next;
  }
}

/** Returns the position after the newest event. */
async function findEnd(options: FollowOptions): Promise<string> {
  let after: string | undefined;
  for (;;) {
    const page = await readPage(options, after, 0);
    if (!page.has_more) return page.next;
    after = page.next;
  }
}

/** Returns the page after a position, or waits for an event up to `waitSeconds`. Retries transient errors. */
async function readPage(
  { client, note, waitForRetry, signal }: FollowOptions,
  after: string | undefined,
  waitSeconds: number,
) {
  for (let failures = 0; ; failures += 1) {
    try {
      const query = { wait: waitSeconds, ...(after !== undefined && { after }) };
      const { data: page } = await readEvents({ client, query, signal });
      if (failures > 0) note('The suite responds.');
      return page;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ApiError && error.details.some(({ field }) => field === 'after'))
        throw new Failure(
          'The saved position is no longer valid: the feed was not read for 30 days, or the suite was reset. Start again with --from oldest or --from now.',
          { cause: error },
        );
      if (!isTransient(error)) throw error;
      if (failures === 0) note(`${error.message} Retrying …`);
      await waitForRetry(Math.min(minRetryDelayMs * 2 ** failures, maxRetryDelayMs));
    }
  }
}

function isTransient(error: unknown): error is Error {
  if (error instanceof ConnectionError) return true;
  return error instanceof ApiError && (error.statusCode === 429 || error.statusCode >= 500);
}
