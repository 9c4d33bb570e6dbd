import type { ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';

/** Where a route's metadata is read from: its handler, or its controller if the handler has none. */
export type RouteTargets = Parameters<Reflector['getAllAndOverride']>[1];

export function routeTargets(context: ExecutionContext): RouteTargets {
  return [context.getHandler(), context.getClass()];
}
