import { ValidationFailed } from '@fulfilment/error-envelope';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

const visibleAscii = /^[\x21-\x7e]{1,255}$/;

/** The `idempotency-key` header, without one pair of quotes around it (the IETF draft makes it a structured string); undefined when absent. */
export const IdempotencyKey = createParamDecorator(
  (_: unknown, context: ExecutionContext): string | undefined => {
    const header = context.switchToHttp().getRequest<Request>().get('idempotency-key');
    if (header === undefined) return undefined;
    const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
    if (visibleAscii.test(key)) return key;
    throw new ValidationFailed([
      { field: 'idempotency-key', reason: 'must be 1 to 255 visible ASCII characters' },
    ]);
  },
);
