import { emptyResource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { type Sampler, setTracer } from '../tracing/tracer.js';

export interface RecordedSpans {
  /** The spans that have ended, in this order. */
  readonly spans: readonly ReadableSpan[];
  named(name: string): ReadableSpan[];
  stop(): void;
}

/** Records the spans of this process until `stop`, of all traces by default. */
export function recordSpans(sampler: Sampler = { isParentBased: true, ratio: 1 }): RecordedSpans {
  const spans: ReadableSpan[] = [];
  setTracer({ resource: emptyResource(), sampler, add: (span) => spans.push(span) });
  return {
    spans,
    named: (name) => spans.filter((span) => span.name === name),
    stop: () => setTracer(undefined),
  };
}
