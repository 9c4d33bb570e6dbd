import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';

/** The request or message that started the current work, as log fields. */
export type WorkOrigin = { readonly request_id: string } | { readonly message_id: string };

/** The context of the current work, for logs, responses and messages. */
export class WorkContext {
  readonly origin: WorkOrigin;
  private readonly received: string | undefined;
  private span: string | undefined;

  /** @param received the traceparent of the request or message */
  constructor(origin: WorkOrigin, received?: string) {
    this.origin = origin;
    this.received = received;
  }

  /** W3C Trace Context, version 00. Created at first use, since most requests do not need it. */
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
 * Returns the next span: of the caller's trace if it is well formed, else of a new trace. A new trace uses
 * the id of the request or message if it has the form of a trace id (the gateway's request ids and UUIDs do),
 * so that one id finds the log lines of the gateway, of this service and of receivers.
 */
export function nextTraceparent(received?: string, originId?: string): string {
  const span = randomHex().slice(0, 16);
  if (received !== undefined && traceparentPattern.test(received)) {
    return `${received.slice(0, 36)}${span}${received.slice(52)}`;
  }
  const own = originId?.replaceAll('-', '') ?? '';
  return `00-${traceIdPattern.test(own) ? own : randomHex()}-${span}-01`;
}

/**
 * 16 random bytes, except six bits. Unlike Node's other generators, this one is buffered: one system call
 * serves many calls.
 */
function randomHex(): string {
  return randomUUID().replaceAll('-', '');
}
