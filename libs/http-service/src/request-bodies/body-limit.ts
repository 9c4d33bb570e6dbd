import { SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { RouteTargets } from '../route-targets.js';

const bodyLimitKey = 'request:body-limit';

/** The limit of a route without `@BodyLimit()`. The gateway rejects bodies of more than 320 KiB. */
export const maxBodyBytes = 256 * 1024;

/** Maximum size of the route's body in bytes. A larger body is 413 and is not parsed. */
export const BodyLimit = (bytes: number) => SetMetadata(bodyLimitKey, bytes);

export function bodyLimitOf(reflector: Reflector, targets: RouteTargets): number {
  return reflector.getAllAndOverride<number | undefined>(bodyLimitKey, targets) ?? maxBodyBytes;
}
