import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import type { RouteTargets } from '../route-targets.js';

const rawBodyKey = 'request:raw-body';

/** Declares that the route reads its body as bytes of any content type, e.g. to verify a signature. */
export const ReadRawBody = () => SetMetadata(rawBodyKey, true);

/** Parameter decorator for the body of a route with `@ReadRawBody()`. */
export const RawBody = createParamDecorator((_: unknown, context: ExecutionContext): Buffer => {
  const body: unknown = context.switchToHttp().getRequest<Request>().body;
  if (!Buffer.isBuffer(body)) throw new Error('A route with @RawBody() lacks @ReadRawBody().');
  return body;
});

export function readsRawBody(reflector: Reflector, targets: RouteTargets): boolean {
  return reflector.getAllAndOverride<boolean | undefined>(rawBodyKey, targets) === true;
}
