import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import { type Origin, originOf } from '../audit/audit-log.js';
import { isStorableText } from '../http/storable-text.js';

/** The parts of a browser's request that the use cases of pages read. */
export interface BrowserRequest {
  /** Network address and user agent. */
  readonly origin: Origin;
  readonly cookies: string | undefined;
  /** Web origin of the page that sent the request, from the header `Origin`. */
  readonly pageOrigin: string | undefined;
  /** A field of the submitted form; undefined when it is missing, too long, repeated or not storable text. */
  readonly optionalField: (name: string) => string | undefined;
  /** Like `optionalField`, but empty instead of undefined. */
  readonly field: (name: string) => string;
}

/** Maximum in UTF-16 code units; no valid field is longer. */
const maxFieldLength = 4096;

export function browserRequest(request: {
  readonly ip?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body?: unknown;
}): BrowserRequest {
  const { headers, body: form } = request;
  const optionalField = (name: string): string | undefined => {
    const value: unknown = typeof form === 'object' && form !== null ? Reflect.get(form, name) : undefined;
    const isValid = typeof value === 'string' && value.length <= maxFieldLength && isStorableText(value);
    return isValid ? value : undefined;
  };
  return {
    origin: originOf(request),
    cookies: headers.cookie,
    pageOrigin: headers.origin,
    optionalField,
    field: (name) => optionalField(name) ?? '',
  };
}

/** Parameter decorator that passes the execution context to a pipe: `@Context(SomePipe)`. */
export const Context = createParamDecorator((_: unknown, context: ExecutionContext) => context);
