import { ConnectionError, retryAfterMs } from './errors.js';
import { retryDelayMs } from './retry.js';
import type { TokenSource } from './token-source.js';

export interface TransportOptions {
  /** An access token, or a source that renews expired ones, such as a `Session`. */
  readonly auth?: string | TokenSource;
  /** Time for one attempt with its body, or for each part of a stream or file. Default: 30 000. */
  readonly timeoutMs?: number;
  /** Default: 3. */
  readonly maxRetries?: number;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Waits between attempts. Rejects if the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Returns a number from 0 to 1, for the jitter. */
  readonly random?: () => number;
}

/** Sends a request until it has a response that is not transient. */
export type Send = (request: Request) => Promise<Response>;

/**
 * @throws ConnectionError without a response
 * @throws SignInRequiredError if the token cannot be renewed
 * @throws the signal's reason if the caller aborts
 */
export function createTransport(options: TransportOptions): Send {
  const { auth, maxRetries = 3, wait = waitFor, random = Math.random } = options;
  return async (request) => {
    let token = typeof auth === 'object' ? await auth.accessToken() : auth;
    let isRenewed = false;
    let mayHaveHadEffect = false;
    for (let retries = 0; ;) {
      const outcome = await attempt(request, token, options);
      const response = outcome instanceof Response ? outcome : undefined;
      if (response?.status === 401 && typeof auth === 'object' && token !== undefined && !isRenewed) {
        token = await auth.renew(token);
        isRenewed = true;
        continue;
      }
      const delayMs = retryDelayMs({ request, response, retries, random: random() });
      if (delayMs !== undefined && retries < maxRetries) {
        await wait(delayMs, request.signal);
        retries += 1;
        mayHaveHadEffect ||= response === undefined || retryAfterMs(response) === undefined;
        continue;
      }
      if (!(outcome instanceof Response)) throw outcome;
      // An earlier attempt deleted the resource, and its response was lost.
      const isDeleted = mayHaveHadEffect && request.method === 'DELETE' && outcome.status === 404;
      return isDeleted ? new Response(null, { status: 204, headers: outcome.headers }) : outcome;
    }
  };
}

function withToken(request: Request, token: string | undefined): Request {
  const copy = request.clone(); // the body is needed again for a retry
  if (token !== undefined) copy.headers.set('authorization', `Bearer ${token}`);
  return copy;
}

/** Reads the body too, except of a file or stream, so that a broken connection in it fails the attempt. */
async function attempt(
  request: Request,
  token: string | undefined,
  { timeoutMs = 30_000, fetch: send = fetch }: TransportOptions,
): Promise<Response | ConnectionError> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  try {
    const signal = AbortSignal.any([request.signal, timeout.signal]);
    const response = await send(new Request(withToken(request, token), { signal }));
    const { status, statusText, headers } = response;
    const isFileOrStream = response.ok && /^text\/(csv|event-stream)/.test(headers.get('content-type') ?? '');
    if (isFileOrStream && response.body !== null) {
      const limited = limitPartTimes(response.body, timeoutMs, request);
      return new Response(limited, { status, statusText, headers });
    }
    const body = await response.arrayBuffer();
    return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers });
  } catch (error) {
    request.signal.throwIfAborted();
    return connectionError(request, timeout.signal.aborted, error);
  } finally {
    clearTimeout(timer);
  }
}

function connectionError({ headers }: Request, timedOut: boolean, cause?: unknown): ConnectionError {
  return new ConnectionError(cause, { requestId: headers.get('x-request-id') ?? undefined, timedOut });
}

/**
 * Returns the same body. It fails when it breaks off, a part does not arrive in time, or the caller aborts;
 * the time that the reader takes does not count. Node's `fetch` may lose the signal of a long response to
 * the garbage collector, and a `Request` its caller's signal. `pull` uses the request, so that the stream
 * keeps it.
 */
function limitPartTimes(
  body: ReadableStream<Uint8Array>,
  timeoutMs: number,
  request: Request,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const { signal } = request;
  const fail = (controller: ReadableStreamDefaultController, reason: unknown): void => {
    controller.error(reason);
    reader.cancel(reason).catch(() => undefined);
  };
  return new ReadableStream({
    start: (controller) => signal.addEventListener('abort', () => fail(controller, signal.reason)),
    async pull(controller) {
      const timer = setTimeout(() => fail(controller, connectionError(request, true)), timeoutMs);
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        throw connectionError(request, false, error);
      } finally {
        clearTimeout(timer);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** @throws the signal's reason, at once, if it aborts */
export async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
  signal.throwIfAborted();
}
