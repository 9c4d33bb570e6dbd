import type { ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';

/** Where the metadata of a route is: at its handler, else at its controller. */
export type RouteTargets = Parameters<Reflector['getAllAndOverride']>[1];

export function routeTargets(context: ExecutionContext): RouteTargets {
  return [context.getHandler(), context.getClass()];
}
