import { SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';

const bodyLimitKey = 'request:body-limit';

/** What a route without a limit of its own reads, and the most that any route may read: the gateway passes on little more. */
export const maxBodyBytes = 256 * 1024;

/** The largest body that the route reads, in bytes. A larger one is 413, before it is parsed. */
export const BodyLimit = (bytes: number) => SetMetadata(bodyLimitKey, bytes);

/** @param places the handler and its class, in this order */
export function bodyLimitOf(
  reflector: Reflector,
  places: Parameters<Reflector['getAllAndOverride']>[1],
): number {
  return reflector.getAllAndOverride<number | undefined>(bodyLimitKey, places) ?? maxBodyBytes;
}
