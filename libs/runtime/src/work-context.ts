import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';

/** What began the work in hand, as its log lines name it. */
export type WorkOrigin = { readonly request_id: string } | { readonly message_id: string };

/** What belongs to the work in hand, wherever the code is: for logs, answers and messages. */
export class WorkContext {
  readonly origin: WorkOrigin;
  private readonly received: string | undefined;
  private span: string | undefined;

  /** @param received the traceparent it came with */
  constructor(origin: WorkOrigin, received?: string) {
    this.origin = origin;
    this.received = received;
  }

  /** W3C Trace Context, version 00. Made when it is first asked for: most requests send nothing on. */
  get traceparent(): string {
    return (this.span ??= nextTraceparent(this.received, Object.values(this.origin)[0]));
  }
}

const storage = new AsyncLocalStorage<WorkContext>();
const traceparentPattern = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const traceIdPattern = /^(?!0{32})[0-9a-f]{32}$/;

export function inContext<T>(context: WorkContext, work: () => T): T {
  return storage.run(context, work);
}

export function currentContext(): WorkContext | undefined {
  return storage.getStore();
}

/**
 * The next span of a trace: the caller's when it is well formed, else of a new trace. A new one has the id of what began it where that
 * has the form (the gateway's request ids and UUIDs do), so that one id finds all: the gateway's line, ours, and the receiver's.
 */
export function nextTraceparent(received?: string, originId?: string): string {
  const span = randomHex().slice(0, 16);
  if (received !== undefined && traceparentPattern.test(received)) {
    return `${received.slice(0, 36)}${span}${received.slice(52)}`;
  }
  const own = originId?.replaceAll('-', '') ?? '';
  return `00-${traceIdPattern.test(own) ? own : randomHex()}-${span}-01`;
}

/** 16 bytes, all but six bits of chance. Of the generators that Node has, this one asks the system once for many. */
function randomHex(): string {
  return randomUUID().replaceAll('-', '');
}
