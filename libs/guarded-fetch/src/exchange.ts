import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { isOurFault, type Outcome, outcomeOfError, outcomeOfStatus } from './outcome.rules.js';

/** Names in small letters. Of a header that came more than once, the first. */
export type AnswerHeaders = Readonly<Record<string, string | undefined>>;

/** What came of one request. */
export interface Exchange {
  readonly outcome: Outcome;
  /** Of the answer, when one came. */
  readonly statusCode: number | undefined;
  readonly headers: AnswerHeaders;
  /** The first bytes of the answer's body, as they came: nothing is decompressed. */
  readonly body: Buffer;
  /** Whether the whole body was read. */
  readonly complete: boolean;
  /** Whether `body` is less than the whole one, read or not. */
  readonly truncated: boolean;
  /** What ended it early from our side; undefined when it came to its end, or the other side broke off. */
  readonly cutBy: Cut | undefined;
  readonly durationMs: number;
  /** It failed because of our name server or our own machine, and says nothing about the other side. */
  readonly ourFault: boolean;
  /** It ended so long after its deadline that this process must have stood still: how long it took says nothing either. */
  readonly stoodStill: boolean;
}

/** The time was over, it came too slowly, enough was read, or the caller wanted no more of it. */
export type Cut = 'deadline' | 'slow' | 'limit' | 'caller';

export interface ExchangeLimits {
  /** For everything: resolving, connecting, TLS, the answer. */
  readonly deadlineMs: number;
  /** Once the status is known, how long the body may still take. The status alone decides the outcome. */
  readonly bodyWithinMs: number;
  /**
   * In each such stretch of time, from the first on, at least so many bytes of the body must come; else the exchange ends. One in which `onChunk` was
   * waited for at the end is not judged: then it is ours to hurry.
   */
  readonly slowest?: { readonly bytes: number; readonly inMs: number };
  /** Reading stops here, and the connection is closed. */
  readonly readAtMostBytes: number;
  /** How much of what is read is kept in `body`. */
  readonly keepAtMostBytes: number;
  /**
   * Takes the body as it comes, for one too large to be kept. Nothing more is read until the promise it may answer has
   * resolved; when that rejects, the exchange ends. The last one may be open when the exchange has ended.
   */
  readonly onChunk?: (chunk: Buffer) => void | Promise<void>;
  /** Whether the body of such an answer is wanted; else it ends there. */
  readonly wantsBody?: (statusCode: number, headers: AnswerHeaders) => boolean;
  /** Ends the exchange when it aborts. */
  readonly signal?: AbortSignal;
}

const mostInterimAnswers = 20;
/**
 * A timer that is later than that was not kept by the event loop: a process that was stopped, a machine without a turn for it. Busy is up to some
 * hundred milliseconds. What came from the other side in so long a time may not have been read before the deadline was said to be over.
 */
const stoodStillAfterMs = 1_000;

/** One request on undici's wire, with a deadline and limits of its own: an abort signal for each request costs a quarter of the speed, a stream more. */
export class ExchangeHandler implements Dispatcher.DispatchHandler {
  private readonly startedAtMs = performance.now();
  private timer: NodeJS.Timeout;
  private readonly pace: NodeJS.Timeout | undefined;
  private paceBytes = 0;
  private taking = false;
  private controller: Dispatcher.DispatchController | undefined;
  private statusCode: number | undefined;
  private headers: AnswerHeaders = {};
  private readonly kept: Buffer[] = [];
  private interimAnswers = 0;
  private keptBytes = 0;
  private readBytes = 0;
  private finished = false;

  constructor(
    private readonly limits: ExchangeLimits,
    private readonly done: (exchange: Exchange) => void,
  ) {
    this.timer = setTimeout(() => this.cut('deadline'), limits.deadlineMs);
    const { slowest } = limits;
    if (slowest !== undefined) this.pace = setInterval(() => this.keepPace(slowest.bytes), slowest.inMs);
    if (limits.signal?.aborted === true) this.cut('caller');
    else limits.signal?.addEventListener('abort', this.leave);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.finished) controller.abort(new Error('The deadline passed before the request was sent.'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (statusCode < 200) {
      // An interim answer decides nothing (RFC 9110 §15.2), but there is an end to them, or they would keep us busy until the deadline.
      this.interimAnswers += 1;
      if (this.interimAnswers > mostInterimAnswers) this.cut('limit');
      return;
    }
    this.statusCode = statusCode;
    this.headers = firstOfEach(headers);
    const leftMs = this.limits.deadlineMs - (performance.now() - this.startedAtMs);
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () => this.cut('deadline'),
      Math.max(0, Math.min(leftMs, this.limits.bodyWithinMs)),
    );
    if (this.limits.wantsBody?.(statusCode, this.headers) === false) this.cut('caller');
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // After a pause the parser tells of nothing, again and again for as long as that is paused for.
    if (this.finished || chunk.length === 0) return;
    const room = this.limits.readAtMostBytes - this.readBytes;
    this.readBytes += chunk.length;
    this.paceBytes += chunk.length;
    const taken = chunk.subarray(0, room);
    const taking = this.limits.onChunk?.(taken);
    if (taking !== undefined) {
      controller.pause();
      this.taking = true;
      taking.then(() => {
        this.taking = false;
        controller.resume();
      }, this.leave);
    }
    const keep = taken.subarray(0, this.limits.keepAtMostBytes - this.keptBytes);
    if (keep.length > 0) this.kept.push(Buffer.from(keep)); // a copy: undici's chunk is a view of its read buffer
    this.keptBytes += keep.length;
    if (chunk.length > room) this.cut('limit');
  }

  onResponseEnd(): void {
    this.finish(outcomeOfStatus(this.statusCode ?? 0), true);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  /** For errors undici throws before it takes the request. */
  fail(error: Error): void {
    if (this.statusCode === undefined)
      this.finish(outcomeOfError(error), false, { ourFault: isOurFault(error) });
    else this.finish(outcomeOfStatus(this.statusCode), false);
  }

  private keepPace(bytes: number): void {
    if (!this.taking && this.paceBytes < bytes) this.cut('slow');
    this.paceBytes = 0;
  }

  private readonly leave = (): void => this.cut('caller');

  /** Ends it from our side. What the status said stands. */
  private cut(by: Cut): void {
    const outcomeWithoutStatus = by === 'deadline' || by === 'slow' ? 'timeout' : 'connection_failed';
    this.finish(
      this.statusCode === undefined ? outcomeWithoutStatus : outcomeOfStatus(this.statusCode),
      false,
      { cutBy: by },
    );
    this.controller?.abort(new Error('Enough was read, or the deadline passed.'));
  }

  private finish(
    outcome: Outcome,
    complete: boolean,
    { cutBy, ourFault = false }: { readonly cutBy?: Cut; readonly ourFault?: boolean } = {},
  ): void {
    if (this.finished) return;
    this.finished = true;
    clearTimeout(this.timer);
    clearInterval(this.pace);
    this.limits.signal?.removeEventListener('abort', this.leave);
    const durationMs = performance.now() - this.startedAtMs;
    const stoodStill = durationMs > this.limits.deadlineMs + stoodStillAfterMs;
    this.done({
      outcome,
      statusCode: this.statusCode,
      headers: this.headers,
      body: Buffer.concat(this.kept),
      complete,
      truncated: !complete || this.readBytes > this.keptBytes,
      cutBy,
      durationMs: Math.round(durationMs),
      ourFault: ourFault || (stoodStill && this.statusCode === undefined), // a status is the other side's word, however late it was read
      stoodStill,
    });
  }
}

/** undici gives a header that came more than once as an array. */
function firstOfEach(headers: IncomingHttpHeaders): AnswerHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}
