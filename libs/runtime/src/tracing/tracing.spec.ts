import { type RecordedSpans, recordSpans } from '../testing/record-spans.js';
import { currentContext, inContext, WorkContext } from '../work-context.js';
import { currentSpan, inSpan } from './in-span.js';
import { Span } from './span.js';
import { isTracing, type Sampler, startTrace, traceparentOfEffect } from './tracer.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const sampled = `00-${traceId}-00f067aa0ba902b7-01`;
const unsampled = `00-${traceId}-00f067aa0ba902b7-00`;
const start = { name: 'work', kind: 'internal' } as const;
const everything = { isParentBased: true, ratio: 1 };
const nothing = { isParentBased: true, ratio: 0 };

let recorded: RecordedSpans | undefined;
const record = (sampler: Sampler): RecordedSpans => (recorded = recordSpans(sampler));
afterEach(() => recorded?.stop());

describe('the decision to record a trace', () => {
  it.each([sampled, unsampled, undefined])(
    'is made by the receiving process for the traceparent %s of a request, whatever its flag says',
    (received) => {
      record(everything);
      expect(startTrace(start, { received, isTrusted: false })).toBeInstanceOf(Span);
      record(nothing);
      expect(startTrace(start, { received, isTrusted: false })).toBe('unsampled');
    },
  );

  it('does not follow from the id of the trace, which a client chooses', () => {
    record({ isParentBased: true, ratio: 0.5 });
    const decisions = Array.from({ length: 100 }, () =>
      startTrace(start, { received: sampled, isTrusted: false }),
    );
    expect(new Set(decisions.map((trace) => trace instanceof Span)).size).toBe(2);
  });

  it('is made for a message by the process that started its trace', () => {
    record(nothing);
    const trace = startTrace(start, { received: sampled, isTrusted: true });
    expect(trace).toMatchObject({ traceId, parentSpanContext: { spanId: '00f067aa0ba902b7' } });
    record(everything);
    expect(startTrace(start, { received: unsampled, isTrusted: true })).toBe('unsampled');
  });

  it('is made by the receiving process for a message too if the sampler is not parent-based', () => {
    record({ isParentBased: false, ratio: 0 });
    expect(startTrace(start, { received: sampled, isTrusted: true })).toBe('unsampled');
  });

  it('is passed on as the flag 00, for an unsampled request and for a message without a trace', () => {
    record(nothing);
    const trace = startTrace(start, { received: sampled, isTrusted: false });
    const context = new WorkContext({ request_id: 'r' }, sampled, trace);
    expect(context.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
    expect(traceparentOfEffect(undefined, 'm')).toMatch(/-00$/);
  });
});

describe('work in a span', () => {
  it('has the span of the work around it as its parent', async () => {
    const { spans } = record(everything);
    const trace = startTrace({ ...start, name: 'request' }, { received: undefined, isTrusted: false });
    await inContext(new WorkContext({ request_id: 'r' }, undefined, trace), () =>
      inSpan(
        () => ({ ...start, name: 'outer' }),
        () =>
          inSpan(
            () => ({ ...start, name: 'inner' }),
            (span) => Promise.resolve(span?.set({ 'order.id': 'ord_1' })),
          ),
      ),
    );
    const [inner, outer] = spans;
    expect(inner).toMatchObject({ name: 'inner', attributes: { 'order.id': 'ord_1' } });
    expect(inner?.parentSpanContext?.spanId).toBe(outer?.spanContext().spanId);
    expect(outer?.parentSpanContext?.spanId).toBe(trace instanceof Span ? trace.spanId : 'no span');
  });

  it('starts a trace if there is no context, as in a background loop', async () => {
    const { spans } = record(everything);
    await inSpan(
      () => start,
      async () => {
        await Promise.resolve();
        expect(currentSpan()).toBeDefined();
        expect(currentContext()?.span).toBe(currentSpan());
      },
    );
    expect(spans).toHaveLength(1);
    expect(spans[0]?.parentSpanContext).toBeUndefined();
  });

  it('has the code of an error, never its message, which may contain secrets', async () => {
    const { spans } = record(everything);
    const error = Object.assign(new Error('password=hunter2'), { code: '23505' });
    await expect(
      inSpan(
        () => start,
        () => Promise.reject(error),
      ),
    ).rejects.toBe(error);
    // 2 is the status of an error.
    expect(spans).toMatchObject([{ status: { code: 2 }, attributes: { 'error.type': '23505' } }]);
    expect(JSON.stringify(spans)).not.toContain('hunter2');
  });

  it('gets neither a span nor a context when tracing is off', async () => {
    expect(isTracing()).toBe(false);
    const start = () => {
      throw new Error('not called');
    };
    expect(await inSpan(start, (span) => Promise.resolve([span, currentContext()]))).toEqual([
      undefined,
      undefined,
    ]);
  });
});
