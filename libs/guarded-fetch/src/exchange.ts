import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { isLocalError, type Outcome, outcomeOfError, outcomeOfStatus } from './outcome.rules.js';

/** The headers by their lower-case names; for a repeated header, its first value. */
export type ResponseHeaders = Readonly<Record<string, string | undefined>>;

/** The result of one request. */
export interface Exchange {
  readonly outcome: Outcome;
  /** Undefined if no final response arrived. */
  readonly statusCode: number | undefined;
  readonly headers: ResponseHeaders;
  /** The first bytes of the response body, not decompressed. */
  readonly body: Buffer;
  /** Whether the whole body was read. */
  readonly complete: boolean;
  /** Whether `body` lacks a part of the response body. */
  readonly truncated: boolean;
  /** Undefined if this side did not abort the exchange. */
  readonly abortReason: AbortReason | undefined;
  readonly durationMs: number;
  /** Whether this machine or its name server caused the failure, not the remote server. */
  readonly isLocalFailure: boolean;
  /** Whether the exchange ended so late that this process must have stalled. Then ignore `durationMs`. */
  readonly processStalled: boolean;
}

/**
 * Why this side aborted an exchange.
 * - `deadline`: `deadlineMs` or `bodyTimeoutMs` has passed
 * - `slow`: below the minimum throughput
 * - `limit`: too many bytes or interim responses
 * - `caller`: by `signal`, by `wantsBody` or by a rejection of `onChunk`
 */
export type AbortReason = 'deadline' | 'slow' | 'limit' | 'caller';

export interface ExchangeOptions {
  /** Time limit of the whole exchange: resolution, connection, TLS, response. */
  readonly deadlineMs: number;
  /** Time limit of the body, from the arrival of the status. Reaching it does not change the outcome. */
  readonly bodyTimeoutMs: number;
  /**
   * The exchange is aborted unless the response arrives in the first interval, and at least `bytes` of the
   * body in each interval after that. An interval is not checked if the delay is local: if `onChunk` is
   * pending at its end, or the process stalled.
   */
  readonly minThroughput?: { readonly bytes: number; readonly intervalMs: number };
  /** Maximum size of the response body: a larger one aborts the exchange. */
  readonly maxReadBytes: number;
  /** Maximum size of `body`. */
  readonly maxKeptBytes: number;
  /**
   * Receives the body in chunks, for a body that is too large to keep. Reading pauses until the promise
   * resolves; a rejection aborts the exchange. The last promise may be pending when the exchange ends.
   */
  readonly onChunk?: (chunk: Buffer) => void | Promise<void>;
  /** Whether to read the body of the response; else the exchange is aborted. By default it is read. */
  readonly wantsBody?: (statusCode: number, headers: ResponseHeaders) => boolean;
  /** Aborts the exchange. */
  readonly signal?: AbortSignal;
}

const maxInterimResponses = 20;
/**
 * A timer that fires this late shows that the process was stopped or got no CPU, since a busy event loop
 * delays a timer by a few hundred milliseconds only. The response may have arrived unread.
 */
const stallThresholdMs = 1_000;

/**
 * Handles one request of undici. It has its own timers and reads no stream, since an abort signal per request
 * costs a quarter of the throughput, and a stream even more.
 */
export class ExchangeHandler implements Dispatcher.DispatchHandler {
  private readonly startedAtMs = performance.now();
  /** Fires at `deadlineMs`; once the status has arrived, after `bodyTimeoutMs` if that is earlier. */
  private deadlineTimer: NodeJS.Timeout;
  private readonly throughputTimer: NodeJS.Timeout | undefined;
  /** Start of the current interval of `minThroughput`. */
  private intervalStartedAtMs = this.startedAtMs;
  /** Bytes of the body that arrived in that interval. */
  private intervalBytes = 0;
  /** Whether a promise of `onChunk` is pending. */
  private isConsuming = false;
  private controller: Dispatcher.DispatchController | undefined;
  private statusCode: number | undefined;
  private headers: ResponseHeaders = {};
  private interimResponses = 0;
  private readBytes = 0;
  private readonly kept: Buffer[] = [];
  private keptBytes = 0;
  private finished = false;

  constructor(
    private readonly options: ExchangeOptions,
    private readonly onEnd: (exchange: Exchange) => void,
  ) {
    this.deadlineTimer = setTimeout(() => this.abort('deadline'), options.deadlineMs);
    const { minThroughput } = options;
    if (minThroughput !== undefined)
      this.throughputTimer = setInterval(() => this.checkThroughput(minThroughput), minThroughput.intervalMs);
    if (options.signal?.aborted === true) this.abort('caller');
    else options.signal?.addEventListener('abort', this.abortByCaller);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.finished) controller.abort(new Error('The exchange ended before the request was sent.'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (statusCode < 200) {
      // An interim response is not the outcome (RFC 9110 §15.2), but a server must not send them endlessly.
      this.interimResponses += 1;
      if (this.interimResponses > maxInterimResponses) this.abort('limit');
      return;
    }
    this.statusCode = statusCode;
    this.headers = firstValues(headers);
    const remainingMs = this.options.deadlineMs - (performance.now() - this.startedAtMs);
    clearTimeout(this.deadlineTimer);
    this.deadlineTimer = setTimeout(
      () => this.abort('deadline'),
      Math.max(0, Math.min(remainingMs, this.options.bodyTimeoutMs)),
    );
    this.throughputTimer?.refresh();
    this.beginInterval();
    if (this.options.wantsBody?.(statusCode, this.headers) === false) this.abort('caller');
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // After a pause, undici's parser emits an empty chunk. A pause for it would cause the next empty chunk.
    if (this.finished || chunk.length === 0) return;
    const readableBytes = this.options.maxReadBytes - this.readBytes;
    this.readBytes += chunk.length;
    this.intervalBytes += chunk.length;
    const readable = chunk.subarray(0, readableBytes);
    const consumed = this.options.onChunk?.(readable);
    if (consumed !== undefined) {
      controller.pause();
      this.isConsuming = true;
      consumed.then(() => {
        this.isConsuming = false;
        controller.resume();
      }, this.abortByCaller);
    }
    const kept = readable.subarray(0, this.options.maxKeptBytes - this.keptBytes);
    if (kept.length > 0) this.kept.push(Buffer.from(kept)); // a copy: a view would retain the socket's buffer
    this.keptBytes += kept.length;
    if (chunk.length > readableBytes) this.abort('limit');
  }

  onResponseEnd(): void {
    this.finish(this.statusOutcomeOr('connection_failed'), { complete: true });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  /** Ends the exchange after an error of undici, or after an error that prevented the request. */
  fail(error: Error): void {
    const isLocalFailure = this.statusCode === undefined && isLocalError(error);
    this.finish(this.statusOutcomeOr(outcomeOfError(error)), { isLocalFailure });
  }

  private checkThroughput({ bytes, intervalMs }: NonNullable<ExchangeOptions['minThroughput']>): void {
    const elapsedMs = performance.now() - this.intervalStartedAtMs;
    const processStalled = elapsedMs > intervalMs + stallThresholdMs;
    if (!this.isConsuming && !processStalled && this.intervalBytes < bytes) this.abort('slow');
    this.beginInterval();
  }

  private beginInterval(): void {
    this.intervalStartedAtMs = performance.now();
    this.intervalBytes = 0;
  }

  private readonly abortByCaller = (): void => this.abort('caller');

  private abort(reason: AbortReason): void {
    const isTooSlow = reason === 'deadline' || reason === 'slow';
    const outcome = this.statusOutcomeOr(isTooSlow ? 'timeout' : 'connection_failed');
    this.finish(outcome, { abortReason: reason });
    this.controller?.abort(new Error(`The exchange was aborted: ${reason}.`));
  }

  /** Returns the outcome of the status, if it has arrived; otherwise the other outcome. */
  private statusOutcomeOr(outcomeWithoutStatus: Outcome): Outcome {
    return this.statusCode === undefined ? outcomeWithoutStatus : outcomeOfStatus(this.statusCode);
  }

  private finish(
    outcome: Outcome,
    {
      complete = false,
      abortReason,
      isLocalFailure = false,
    }: Partial<Pick<Exchange, 'complete' | 'abortReason' | 'isLocalFailure'>> = {},
  ): void {
    if (this.finished) return;
    this.finished = true;
    clearTimeout(this.deadlineTimer);
    clearInterval(this.throughputTimer);
    this.options.signal?.removeEventListener('abort', this.abortByCaller);
    const durationMs = performance.now() - this.startedAtMs;
    const processStalled = durationMs > this.options.deadlineMs + stallThresholdMs;
    this.onEnd({
      outcome,
      statusCode: this.statusCode,
      headers: this.headers,
      body: Buffer.concat(this.kept),
      complete,
      truncated: !complete || this.readBytes > this.keptBytes,
      abortReason,
      durationMs: Math.round(durationMs),
      // A status is valid however late it was read.
      isLocalFailure: isLocalFailure || (processStalled && this.statusCode === undefined),
      processStalled,
    });
  }
}

/** undici represents a repeated header as an array. */
function firstValues(headers: IncomingHttpHeaders): ResponseHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}
