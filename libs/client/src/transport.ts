import { ConnectionError } from './errors.js';
import { retryDelayMs } from './retry.js';

/** The source of a client's access tokens, such as a `Session`. */
export interface TokenSource {
  /** Returns a token that has not expired, as far as is known. */
  accessToken(): Promise<string>;
  /** Returns another token after an API rejected this one with 401. Called at most once for each request. */
  renew(rejected: string): Promise<string>;
}

export interface TransportOptions {
  /** An access token, or a source that renews expired ones, such as a `Session`. */
  readonly auth?: string | TokenSource;
  /** Time for one attempt with its body, or for each part of a stream or CSV file. Default: 30 000. */
  readonly timeoutMs?: number;
  /** Number of attempts after the first one; the attempt with a renewed token does not count. Default: 3. */
  readonly maxRetries?: number;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Waits between attempts; rejects if the signal aborts. Default: a timer. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Returns a number from 0 to 1, for the jitter. Default: `Math.random`. */
  readonly random?: () => number;
}

/** Sends a request until its response is final or no retry is left, and returns the last response. */
export type Send = (request: Request) => Promise<Response>;

/**
 * Returns a function that sends requests with the access token, timeouts and retries. That function throws:
 * @throws ConnectionError if the last attempt has no complete response
 * @throws SignInRequiredError if the token cannot be renewed
 * @throws the signal's reason if the caller aborts
 */
export function createTransport(options: TransportOptions): Send {
  const { auth, maxRetries = 3, wait = waitFor, random = Math.random } = options;
  return async (request) => {
    let token = typeof auth === 'object' ? await auth.accessToken() : auth;
    let isRenewed = false;
    let hadPossibleEffect = false;
    let retries = 0;
    for (;;) {
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
        // A 409 or 429 had no effect.
        hadPossibleEffect ||= response === undefined || response.status === 503;
        continue;
      }
      if (!(outcome instanceof Response)) throw outcome;
      // An earlier attempt has probably deleted the resource.
      const isDeleted = hadPossibleEffect && request.method === 'DELETE' && outcome.status === 404;
      return isDeleted ? new Response(null, { status: 204, headers: outcome.headers }) : outcome;
    }
  };
}

/**
 * Sends the request once. Reads the body too, except of a CSV file or stream, so that a connection that
 * breaks fails the attempt. Returns a ConnectionError, which the caller may retry.
 * @throws the signal's reason
 */
async function attempt(
  request: Request,
  token: string | undefined,
  { timeoutMs = 30_000, fetch: send = fetch }: TransportOptions,
): Promise<Response | ConnectionError> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  try {
    const signal = AbortSignal.any([request.signal, timeout.signal]);
    const copy = new Request(request.clone(), { signal }); // the body is needed for a retry, too
    if (token !== undefined) copy.headers.set('authorization', `Bearer ${token}`);
    const response = await send(copy);
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
    return connectionError(request, { timedOut: timeout.signal.aborted, cause: error });
  } finally {
    clearTimeout(timer);
  }
}

function connectionError(
  { headers }: Request,
  { timedOut, cause }: { readonly timedOut: boolean; readonly cause?: unknown },
): ConnectionError {
  return new ConnectionError(cause, { requestId: headers.get('x-request-id') ?? undefined, timedOut });
}

/**
 * Returns a body with the same parts. It fails when the connection breaks, when a part does not arrive in
 * time after the reader has requested it, or when the caller aborts. The signal that `fetch` got does not
 * suffice: garbage collection may remove it during a long response. So this function listens to the signal of
 * the request, which `pull` protects from garbage collection by its reference to the request.
 */
function limitPartTimes(
  body: ReadableStream<Uint8Array>,
  timeoutMs: number,
  request: Request,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const { signal } = request;
  const failed = new AbortController();
  const fail = (reason: unknown): void => {
    failed.abort(reason);
    reader.cancel(reason).catch(() => undefined); // ends a read that is waiting for a part
  };
  return new ReadableStream(
    {
      start: () => signal.addEventListener('abort', () => fail(signal.reason)),
      async pull(controller) {
        const timer = setTimeout(() => fail(connectionError(request, { timedOut: true })), timeoutMs);
        const { done, value } = await reader
          .read()
          .catch((cause: unknown) => {
            failed.signal.throwIfAborted();
            throw connectionError(request, { timedOut: false, cause });
          })
          .finally(() => clearTimeout(timer));
        failed.signal.throwIfAborted();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 }, // by default, the stream reads one part in advance
  );
}

/** A longer timer would end at once. */
const maxTimerMs = 2 ** 31 - 1;

/** Waits, until the signal aborts at the latest. @throws the signal's reason */
export async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(ms, maxTimerMs));
    signal.addEventListener('abort', end);
  });
  signal.throwIfAborted();
}
