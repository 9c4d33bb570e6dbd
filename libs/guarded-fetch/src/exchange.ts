import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { isLocalError, type Outcome, outcomeOfError, outcomeOfStatus } from './outcome.rules.js';

/** Lower-case names; for a repeated header, its first value. */
export type ResponseHeaders = Readonly<Record<string, string | undefined>>;

/** The result of one request. */
export interface Exchange {
  readonly outcome: Outcome;
  /** Undefined when there was no response. */
  readonly statusCode: number | undefined;
  readonly headers: ResponseHeaders;
  /** The first bytes of the response body, not decompressed. */
  readonly body: Buffer;
  /** Whether the whole body was read. */
  readonly complete: boolean;
  /** Whether `body` is not the whole response body. */
  readonly truncated: boolean;
  /** Reason why this side aborted; undefined when it did not, or when the server closed the connection. */
  readonly abortReason: AbortReason | undefined;
  readonly durationMs: number;
  /** The failure was caused by this machine or its name server, not by the remote server. */
  readonly isLocalFailure: boolean;
  /** The exchange ended so late that this process must have stalled: `durationMs` is meaningless. */
  readonly processStalled: boolean;
}

/**
 * `slow`: below the minimum throughput. `limit`: too many bytes or interim responses. `caller`: by `signal`,
 * `wantsBody` or a rejection of `onChunk`.
 */
export type AbortReason = 'deadline' | 'slow' | 'limit' | 'caller';

export interface ExchangeOptions {
  /** Limit of the whole exchange: resolution, connection, TLS, response. */
  readonly deadlineMs: number;
  /** Limit of the body after the status has arrived. The status alone decides the outcome. */
  readonly bodyTimeoutMs: number;
  /**
   * At least `bytes` of the body must arrive in each interval, from the first on; else the exchange is
   * aborted. An interval that ends while `onChunk` is pending does not count, since the delay is local.
   */
  readonly minThroughput?: { readonly bytes: number; readonly intervalMs: number };
  /** Beyond this size, reading stops and the connection is closed. */
  readonly maxReadBytes: number;
  /** Maximum size of `body`. */
  readonly maxKeptBytes: number;
  /**
   * Receives the body in chunks, for one too large to keep. Reading pauses until the returned promise
   * resolves; a rejection aborts the exchange. The last promise may be pending when the exchange ends.
   */
  readonly onChunk?: (chunk: Buffer) => void | Promise<void>;
  /** Whether to read the body of a response with this status and headers; else the exchange is aborted. */
  readonly wantsBody?: (statusCode: number, headers: ResponseHeaders) => boolean;
  /** Aborts the exchange. */
  readonly signal?: AbortSignal;
}

const maxInterimResponses = 20;
/**
 * A timer that fires later than this shows that the process was stopped or got no CPU; a busy event loop is
 * late by a few hundred milliseconds. Data that arrived in that time may have been unread at the deadline.
 */
const stallThresholdMs = 1_000;

/**
 * Handles one request of undici, with its own deadline and limits: an abort signal per request costs a
 * quarter of the throughput, a stream even more.
 */
export class ExchangeHandler implements Dispatcher.DispatchHandler {
  private readonly startedAtMs = performance.now();
  private timer: NodeJS.Timeout;
  private readonly throughputTimer: NodeJS.Timeout | undefined;
  /** Bytes of the body that arrived in the current interval of `minThroughput`. */
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
    this.timer = setTimeout(() => this.abort('deadline'), options.deadlineMs);
    const { minThroughput } = options;
    if (minThroughput !== undefined)
      this.throughputTimer = setInterval(
        () => this.checkThroughput(minThroughput.bytes),
        minThroughput.intervalMs,
      );
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
      // Interim responses decide nothing (RFC 9110 §15.2). The limit keeps them from occupying this process.
      this.interimResponses += 1;
      if (this.interimResponses > maxInterimResponses) this.abort('limit');
      return;
    }
    this.statusCode = statusCode;
    this.headers = firstValues(headers);
    const remainingMs = this.options.deadlineMs - (performance.now() - this.startedAtMs);
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () => this.abort('deadline'),
      Math.max(0, Math.min(remainingMs, this.options.bodyTimeoutMs)),
    );
    if (this.options.wantsBody?.(statusCode, this.headers) === false) this.abort('caller');
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // After a pause the parser emits empty chunks; pausing on them would repeat that for ever.
    if (this.finished || chunk.length === 0) return;
    const readableBytes = this.options.maxReadBytes - this.readBytes;
    this.readBytes += chunk.length;
    this.intervalBytes += chunk.length;
    const taken = chunk.subarray(0, readableBytes);
    const consumed = this.options.onChunk?.(taken);
    if (consumed !== undefined) {
      controller.pause();
      this.isConsuming = true;
      consumed.then(() => {
        this.isConsuming = false;
        controller.resume();
      }, this.abortByCaller);
    }
    const kept = taken.subarray(0, this.options.maxKeptBytes - this.keptBytes);
    if (kept.length > 0) this.kept.push(Buffer.from(kept)); // undici reuses its read buffer
    this.keptBytes += kept.length;
    if (chunk.length > readableBytes) this.abort('limit');
  }

  onResponseEnd(): void {
    this.finish(outcomeOfStatus(this.statusCode ?? 0), { complete: true });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  /** Ends the exchange after an error of undici, also one that it throws before it accepts the request. */
  fail(error: Error): void {
    if (this.statusCode === undefined)
      this.finish(outcomeOfError(error), { isLocalFailure: isLocalError(error) });
    else this.finish(outcomeOfStatus(this.statusCode));
  }

  private checkThroughput(minBytes: number): void {
    if (!this.isConsuming && this.intervalBytes < minBytes) this.abort('slow');
    this.intervalBytes = 0;
  }

  private readonly abortByCaller = (): void => this.abort('caller');

  /** Aborts from this side. An outcome that the status decided stays. */
  private abort(reason: AbortReason): void {
    const outcomeWithoutStatus = reason === 'deadline' || reason === 'slow' ? 'timeout' : 'connection_failed';
    this.finish(this.statusCode === undefined ? outcomeWithoutStatus : outcomeOfStatus(this.statusCode), {
      abortReason: reason,
    });
    this.controller?.abort(new Error(`The exchange was aborted: ${reason}.`));
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
    clearTimeout(this.timer);
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
