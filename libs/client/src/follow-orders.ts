import { ApiError, ConnectionError } from './errors.js';
import type { Client } from './generated/client/index.js';
import type { OrderSummary } from './generated/creator/types.gen.js';
import { type TransportOptions, waitFor } from './transport.js';

/**
 * Each connection begins with `open`, or with `reset` if orders since the last event may be missing. Read the
 * list of orders after the first `open` or `reset`, and after each later `reset`.
 */
export type OrderStreamEvent =
  | { readonly event: 'open' | 'reset'; readonly id: string }
  | { readonly event: 'order.created'; readonly id: string; readonly order: OrderSummary };

export interface FollowOptions extends Pick<TransportOptions, 'wait' | 'random'> {
  /** A client of the Creator API. Its `timeoutMs` must be longer than the 15 s between heartbeats. */
  readonly client: Client;
  /** UUID of the creator. */
  readonly creator: string;
  /** The `id` of the last event that was handled, to continue after it. */
  readonly lastEventId?: string;
  readonly signal?: AbortSignal;
  /** Delay before the next connection, multiplied by a random number from 0.5 to 1.5. Default: 1000. */
  readonly reconnectDelayMs?: number;
}

/**
 * Yields the new orders of a creator. Reconnects when the connection breaks or the stream ends, and
 * continues after the last event. Handle each order once: the list that you read may contain it too.
 * @throws ConnectionError when the first connection fails; later failures are retried
 * @throws ApiError when the creator is not visible, the request is rejected, or a proxy returns another page
 * @throws SignInRequiredError when the token cannot be renewed
 * @throws the signal's reason if the caller aborts
 */
export async function* followOrders(options: FollowOptions): AsyncGenerator<OrderStreamEvent, void> {
  const { client, creator, signal = new AbortController().signal, reconnectDelayMs = 1000 } = options;
  const { wait = waitFor, random = Math.random } = options;
  let lastEventId = options.lastEventId;
  let hasConnected = false;
  for (;;) {
    let requiredDelayMs = 0;
    try {
      const body = await connect(client, creator, lastEventId, signal);
      hasConnected = true;
      for await (const event of parseStream(body, signal)) {
        lastEventId = event.id;
        yield event;
      }
    } catch (error) {
      if (!hasConnected || !isTransient(error)) throw error;
      if (error instanceof ApiError) requiredDelayMs = error.retryAfterMs ?? 0;
    }
    signal.throwIfAborted();
    await wait(requiredDelayMs + reconnectDelayMs * (0.5 + random()), signal);
  }
}

async function connect(
  client: Client,
  creator: string,
  lastEventId: string | undefined,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const { data, response } = await client.get({
    url: '/api/v1/order-stream',
    query: { creator },
    headers: lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId },
    parseAs: 'stream',
    signal,
    throwOnError: true,
  });
  const isStream = /^text\/event-stream/.test(response.headers.get('content-type') ?? '');
  if (isStream && data instanceof ReadableStream) return data;
  throw new ApiError(response, undefined);
}

function isTransient(error: unknown): boolean {
  if (error instanceof ApiError) return error.statusCode === 429 || error.statusCode >= 500;
  return error instanceof ConnectionError;
}

/** Yields the events of one connection. Returns when it ends or breaks. @throws the signal's reason */
async function* parseStream(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<OrderStreamEvent, void> {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', cancel);
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const part = await reader.read().catch(() => undefined);
      signal.throwIfAborted();
      if (part === undefined || part.done) return;
      const blocks = (text + decoder.decode(part.value, { stream: true })).split('\n\n');
      text = blocks.pop() ?? '';
      yield* blocks.flatMap(parseEvent);
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

/** Returns no event for a comment, or for a type of event that this version does not know. */
function parseEvent(block: string): OrderStreamEvent[] {
  const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
  const [event, id] = [field('event'), field('id')];
  if (event === 'open' || event === 'reset') return [{ event, id }];
  if (event !== 'order.created') return [];
  const order: unknown = JSON.parse(field('data'));
  return isOrder(order) ? [{ event, id, order }] : [];
}

/** Checks one member. The others are trusted to be those that the API documents. */
function isOrder(value: unknown): value is OrderSummary {
  return typeof value === 'object' && value !== null && 'uuid' in value;
}
