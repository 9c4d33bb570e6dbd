import type { Attributes, SpanContext } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { randomHex } from './random-hex.js';

type HrTime = [number, number];

/** OpenTelemetry's SpanKind, whose enum would load its package. */
const kinds = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 } as const;

/** Name and properties of a span at its start. */
export interface SpanStart {
  /** Contains no id, so that the number of different names is small. */
  readonly name: string;
  readonly kind: keyof typeof kinds;
  /** Named as in OpenTelemetry's conventions. Never a secret, token, address, e-mail, body or URL. */
  readonly attributes?: Attributes;
  /** Time of `performance.now()`; by default now. */
  readonly startedAtMs?: number;
}

/** Receives the spans that have ended. */
export interface SpanSink {
  readonly resource: Resource;
  add(span: ReadableSpan): void;
}

/** The parent of a span, which may be in another process. */
export type SpanParent = Pick<SpanContext, 'traceId' | 'spanId'>;

/** OpenTelemetry's TraceFlags.SAMPLED. */
const sampledFlag = 1;
/** OpenTelemetry's SpanStatusCode.ERROR. */
const errorStatus = 2;
const instrumentationScope = { name: '@fulfilment/runtime' };

/**
 * A span that is recorded. OpenTelemetry's own span is several times as expensive: its tracer also samples,
 * validates and truncates, which is not needed here (ADR 52).
 */
export class Span implements ReadableSpan {
  readonly kind: (typeof kinds)[keyof typeof kinds];
  readonly attributes: Attributes;
  readonly parentSpanContext?: SpanContext;
  readonly resource: Resource;
  readonly instrumentationScope = instrumentationScope;
  readonly links = [];
  readonly events = [];
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  name: string;
  status: { code: 0 | 2 } = { code: 0 };
  ended = false; // required by ReadableSpan
  private readonly sink: SpanSink;
  private readonly context: SpanContext;
  private readonly startedAtMs: number;
  private endedAtMs = 0;

  /** @param parent the parent span; for a root span, only the id of the trace */
  constructor(
    sink: SpanSink,
    { name, kind, attributes, startedAtMs = performance.now() }: SpanStart,
    parent: SpanParent | { readonly traceId: string },
  ) {
    this.sink = sink;
    this.name = name;
    this.kind = kinds[kind];
    this.attributes = { ...attributes };
    this.resource = sink.resource;
    this.startedAtMs = startedAtMs;
    this.context = { traceId: parent.traceId, spanId: randomHex().slice(0, 16), traceFlags: sampledFlag };
    if ('spanId' in parent)
      this.parentSpanContext = { traceId: parent.traceId, spanId: parent.spanId, traceFlags: sampledFlag };
  }

  get traceId(): string {
    return this.context.traceId;
  }

  get spanId(): string {
    return this.context.spanId;
  }

  /** W3C Trace Context of work that this span causes. */
  get traceparent(): string {
    return `00-${this.context.traceId}-${this.context.spanId}-01`;
  }

  spanContext(): SpanContext {
    return this.context;
  }

  child(start: SpanStart): Span {
    return new Span(this.sink, start, this.context);
  }

  /** Adds attributes. */
  set(attributes: Attributes): void {
    Object.assign(this.attributes, attributes);
  }

  /** @param type a code or the name of an error class, never the error's message */
  fail(type: string): void {
    this.status = { code: errorStatus };
    this.attributes['error.type'] = type;
  }

  /** Passes the span to the sink. Only the first call has an effect. */
  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.endedAtMs = performance.now();
    this.sink.add(this);
  }

  get startTime(): HrTime {
    return hrTime(performance.timeOrigin + this.startedAtMs);
  }

  get endTime(): HrTime {
    return hrTime(performance.timeOrigin + this.endedAtMs);
  }

  get duration(): HrTime {
    return hrTime(this.endedAtMs - this.startedAtMs);
  }
}

const nsPerMs = 1e6;
const maxNs = 999_999_999;

/** Returns seconds and nanoseconds. @param ms since the epoch, or a duration */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  const ns = Math.round((ms - seconds * 1_000) * nsPerMs);
  return [seconds, Math.min(ns, maxNs)]; // rounded up, it could be a whole second
}

/** Ends a span with the code or class of an error. */
export function endFailed(span: Span, error: unknown): void {
  span.fail(errorType(error));
  span.end();
}

function errorType(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' ? code : error.name;
}
