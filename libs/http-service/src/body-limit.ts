import { SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';

const bodyLimitKey = 'request:body-limit';

/** Default of a route, and the maximum for all routes: the gateway's limit is only a little higher. */
export const maxBodyBytes = 256 * 1024;

/** Maximum size of the route's body in bytes. A larger one is 413, before it is parsed. */
export const BodyLimit = (bytes: number) => SetMetadata(bodyLimitKey, bytes);

/** @param places the handler and its class, in this order */
export function bodyLimitOf(
  reflector: Reflector,
  places: Parameters<Reflector['getAllAndOverride']>[1],
): number {
  return reflector.getAllAndOverride<number | undefined>(bodyLimitKey, places) ?? maxBodyBytes;
}
