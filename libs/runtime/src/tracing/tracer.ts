import { Span, type SpanSink, type SpanStart } from './span.js';
import { newTraceId, nextTraceparent, parseTraceparent } from './traceparent.js';

/** Decides which traces are recorded. */
export interface Sampler {
  /** Whether a message keeps the decision of the process that started its trace. */
  readonly isParentBased: boolean;
  /** The share of the traces that start here, from 0 to 1. */
  readonly ratio: number;
}

export interface Tracer extends SpanSink {
  readonly sampler: Sampler;
}

/** The span of a request or message; `unsampled` if its trace is not recorded, undefined without tracing. */
export type Trace = Span | 'unsampled' | undefined;

let tracer: Tracer | undefined;

/** Sets the tracer of this process. Undefined stops the recording. */
export function setTracer(next: Tracer | undefined): void {
  tracer = next;
}

/** Whether this process records spans. */
export function isTracing(): boolean {
  return tracer !== undefined;
}

/**
 * Starts the span of a request or message, if its trace is recorded.
 *
 * The decision about the trace of a message was made by the process that started it. The decision about a
 * request is made by this process, at random: clients choose the flag and the id of their traceparent.
 */
export function startTrace(
  start: SpanStart,
  {
    received,
    originId,
    isTrusted,
  }: {
    readonly received: string | null | undefined;
    readonly originId?: string;
    /** Whether a process of the suite made the traceparent. */
    readonly isTrusted: boolean;
  },
): Trace {
  if (tracer === undefined) return undefined;
  const { isParentBased, ratio } = tracer.sampler;
  const parent = parseTraceparent(received);
  const isSampled =
    isTrusted && isParentBased && parent !== undefined ? parent.isSampled : Math.random() < ratio;
  if (!isSampled) return 'unsampled';
  return new Span(tracer, start, parent ?? { traceId: newTraceId(originId) });
}

/** Starts a child of a span of another process, if that span is recorded. */
export function startChildOf(received: string | null | undefined, start: SpanStart): Span | undefined {
  if (tracer === undefined) return undefined;
  const parent = parseTraceparent(received);
  return parent?.isSampled === true ? new Span(tracer, start, parent) : undefined;
}

/** Returns the trace of a traceparent if it is recorded, for an exemplar. */
export function recordedTrace(received: string | null | undefined): { readonly traceId: string } | undefined {
  if (tracer === undefined) return undefined;
  const span = parseTraceparent(received);
  return span?.isSampled === true ? span : undefined;
}

/**
 * Returns the traceparent for the messages that the handling of a message writes. While this process records
 * spans, it is that of the handled message: the outbox adds a span for each written message.
 */
export function traceparentOfEffect(received: string | undefined, messageId: string): string {
  if (tracer === undefined) return nextTraceparent(received, { originId: messageId });
  if (received !== undefined && parseTraceparent(received) !== undefined) return received;
  return nextTraceparent(undefined, { originId: messageId, isSampled: false });
}
