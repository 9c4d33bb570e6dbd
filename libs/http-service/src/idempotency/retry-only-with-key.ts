import { Attached } from '@fulfilment/runtime';
import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { routeTargets, type RouteTargets } from '../route-targets.js';

const metadataKey = 'request:retry-only-with-key';
const responsesWithoutRetryAfter = new Attached<true>();

/**
 * Declares that a repeated request without an `idempotency-key` may do its work twice. Error responses to
 * requests without a key then have no `Retry-After`, which generic clients take as permission to repeat.
 * The gateway does the same.
 */
export const RetryOnlyWithKey = () => SetMetadata(metadataKey, true);

export function isRetriedOnlyWithKey(reflector: Reflector, targets: RouteTargets): boolean {
  return reflector.getAllAndOverride<boolean | undefined>(metadataKey, targets) === true;
}

/** Whether the response must have no `Retry-After` if it becomes an error. */
export function omitsRetryAfter(response: object): boolean {
  return responsesWithoutRetryAfter.get(response) === true;
}

/** Rejects nothing. It is the first guard, so that it also applies to the errors of the other guards. */
@Injectable()
export class OmitRetryAfterGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const hasKey = http.getRequest<Request>().headers['idempotency-key'] !== undefined;
    if (!hasKey && isRetriedOnlyWithKey(this.reflector, routeTargets(context)))
      responsesWithoutRetryAfter.set(http.getResponse<Response>(), true);
    return true;
  }
}
