import { currentContext, inContext, WorkContext } from '../work-context.js';
import { endFailed, Span, type SpanStart } from './span.js';
import { isTracing, startTrace } from './tracer.js';

/** Returns the span of the current work; undefined if it is not recorded. */
export function currentSpan(): Span | undefined {
  return isTracing() ? currentContext()?.span : undefined;
}

/** Runs work in a child of the current span; without a context, as in a background loop, in a new trace. */
export async function inSpan<Result>(
  start: () => SpanStart,
  work: (span?: Span) => Promise<Result>,
): Promise<Result> {
  if (!isTracing()) return work();
  const context = currentContext();
  if (context === undefined) {
    // Nothing was received, so the sampler decides. The trace is 'unsampled' if it is not recorded.
    const trace = startTrace(start(), { received: undefined, isTrusted: true });
    const root = new WorkContext({}, undefined, trace);
    return inContext(root, () => (trace instanceof Span ? endAfter(trace, work) : work()));
  }
  const span = context.span?.child(start());
  if (span === undefined) return work();
  return inContext(context.withSpan(span), () => endAfter(span, work));
}

/** Ends the span when the work settles. A rejection records the type of its error. */
export async function endAfter<Result>(span: Span, work: (span: Span) => Promise<Result>): Promise<Result> {
  try {
    const result = await work(span);
    span.end();
    return result;
  } catch (error) {
    endFailed(span, error);
    throw error;
  }
}
