import type { Parameter } from '@fulfilment/api-reference';
import { ValidationFailed } from '@fulfilment/error-envelope';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

const visibleAscii = /^[\x21-\x7e]{1,255}$/;

/** The header in the API reference. */
export const idempotencyKeyHeader: Parameter = {
  name: 'idempotency-key',
  in: 'header',
  description:
    'Makes the request safe to retry: 1 to 255 visible ASCII characters of your choice, stored for 24 hours per creator and client. A request with the same key and ' +
    'the same body returns the response of the first request. A different body is 409. While the first request is running, the second one waits for its response, or is 409 (`in_progress`). One pair of enclosing double quotes is ignored.',
  schema: { type: 'string', pattern: '^(?!""$)([!-~]{1,255}|"[!-~]{1,255}")$' },
  example: '6f1f7c2e-2f3b-4d0a-9c55-6b7d3f0e8a11',
};

/** Parameter decorator for the `idempotency-key`, without enclosing quotes; undefined if it is not sent. */
export const IdempotencyKey = createParamDecorator(readIdempotencyKey);

export function readIdempotencyKey(_: unknown, context: ExecutionContext): string | undefined {
  const header = context.switchToHttp().getRequest<Request>().get('idempotency-key');
  if (header === undefined) return undefined;
  const key = parseIdempotencyKey(header);
  if (key !== undefined) return key;
  throw new ValidationFailed([
    { field: 'idempotency-key', reason: 'must be 1 to 255 visible ASCII characters' },
  ]);
}

/** Returns the key of a header value; undefined when it is invalid. */
export function parseIdempotencyKey(header: string): string | undefined {
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  return visibleAscii.test(key) ? key : undefined;
}
