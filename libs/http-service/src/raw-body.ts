import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { Request } from 'express';

const rawBodyKey = 'request:raw-body';

/** The route reads its body as bytes of any content type, for example to verify a signature. */
export const ReadRawBody = () => SetMetadata(rawBodyKey, true);

/** The body of a route with `@ReadRawBody()`. */
export const RawBody = createParamDecorator((_: unknown, context: ExecutionContext): Buffer => {
  const body: unknown = context.switchToHttp().getRequest<Request>().body;
  if (!Buffer.isBuffer(body)) throw new Error('A route with @RawBody() lacks @ReadRawBody().');
  return body;
});

/** @param places the handler and its class, in this order */
export function readsRawBody(
  reflector: Reflector,
  places: Parameters<Reflector['getAllAndOverride']>[1],
): boolean {
  return reflector.getAllAndOverride<boolean | undefined>(rawBodyKey, places) === true;
}
