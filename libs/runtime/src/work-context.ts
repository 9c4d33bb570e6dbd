import { AsyncLocalStorage } from 'node:async_hooks';
import { Span } from './tracing/span.js';
import { nextTraceparent } from './tracing/traceparent.js';
import type { Trace } from './tracing/tracer.js';

/** The request or message that started the current work, as log fields; no fields for background work. */
export type WorkOrigin =
  { readonly request_id: string } | { readonly message_id: string } | Readonly<Record<string, never>>;

/** The context of the current work, for logs, responses and messages. */
export class WorkContext {
  /** The span of the current work; undefined if it is not recorded. */
  readonly span: Span | undefined;
  readonly origin: WorkOrigin;
  private readonly received: string | undefined;
  private readonly trace: Trace;
  private createdTraceparent: string | undefined;

  /**
   * @param received the traceparent of the request or message
   * @param trace the span of the work, if its trace is recorded
   */
  constructor(origin: WorkOrigin, received?: string, trace?: Trace) {
    this.origin = origin;
    this.received = received;
    this.trace = trace;
    this.span = trace instanceof Span ? trace : undefined;
  }

  /** The traceparent for effects of the work. Created at first use, since most requests do not need it. */
  get traceparent(): string {
    return (this.createdTraceparent ??= this.span?.traceparent ?? this.traceparentWithoutSpan());
  }

  private traceparentWithoutSpan(): string {
    const [originId] = Object.values(this.origin);
    // A process that records no spans keeps the decision of the sender.
    const isSampled = this.trace === undefined ? undefined : false;
    return nextTraceparent(this.received, { originId, isSampled });
  }

  /** Returns the context of a part of the work that has a span of its own. */
  withSpan(span: Span): WorkContext {
    return new WorkContext(this.origin, this.received, span);
  }
}

const storage = new AsyncLocalStorage<WorkContext>();

export function inContext<Result>(context: WorkContext, work: () => Result): Result {
  return storage.run(context, work);
}

export function currentContext(): WorkContext | undefined {
  return storage.getStore();
}
