import { omitRetryAfter } from '@fulfilment/error-envelope';
import { type CanActivate, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';

const retryOnlyWithKeyKey = 'request:retry-only-with-key';
type Places = Parameters<Reflector['getAllAndOverride']>[1];

/**
 * A repetition of the operation without an `idempotency-key` may do its work twice. So no error response to a request without one
 * carries `Retry-After`, which generic clients take as leave to repeat the request. The gateway does the same.
 */
export const RetryOnlyWithKey = () => SetMetadata(retryOnlyWithKeyKey, true);

/** @param places the handler and its class, in this order */
export function isRetriedOnlyWithKey(reflector: Reflector, places: Places): boolean {
  return reflector.getAllAndOverride<boolean | undefined>(retryOnlyWithKeyKey, places) === true;
}

/** Rejects nothing. Stands before all guards, whose errors are meant, too. */
export class RetryAfterGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const hasKey = http.getRequest<Request>().headers['idempotency-key'] !== undefined;
    if (!hasKey && isRetriedOnlyWithKey(this.reflector, [context.getHandler(), context.getClass()]))
      omitRetryAfter(http.getResponse<Response>());
    return true;
  }
}
