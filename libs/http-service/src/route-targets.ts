import type { ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';

/** The places of a route's metadata: its handler, else its controller. */
export type RouteTargets = Parameters<Reflector['getAllAndOverride']>[1];

export function routeTargets(context: ExecutionContext): RouteTargets {
  return [context.getHandler(), context.getClass()];
}
