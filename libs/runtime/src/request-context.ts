import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';

/** What belongs to the work in hand, wherever the code is: for logs, answers and messages. */
export class RequestContext {
  readonly requestId: string;
  private readonly received: string | undefined;
  private span: string | undefined;

  /** @param received the caller's traceparent */
  constructor(requestId: string, received?: string) {
    this.requestId = requestId;
    this.received = received;
  }

  /** W3C Trace Context, version 00. Made when it is first asked for: most requests send nothing on. */
  get traceparent(): string {
    return (this.span ??= nextTraceparent(this.received));
  }
}

const storage = new AsyncLocalStorage<RequestContext>();
const traceparentPattern = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

export function withRequestContext<T>(context: RequestContext, work: () => T): T {
  return storage.run(context, work);
}

export function currentContext(): RequestContext | undefined {
  return storage.getStore();
}

/** The next span of a trace: the caller's when it is well formed, else of a new trace. */
export function nextTraceparent(received?: string): string {
  const span = randomHex().slice(0, 16);
  if (received !== undefined && traceparentPattern.test(received)) {
    return `${received.slice(0, 36)}${span}${received.slice(52)}`;
  }
  return `00-${randomHex()}-${span}-01`;
}

/** 16 bytes, all but six bits of chance. Of the generators that Node has, this one asks the system once for many. */
function randomHex(): string {
  return randomUUID().replaceAll('-', '');
}
