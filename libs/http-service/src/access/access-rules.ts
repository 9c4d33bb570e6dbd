import { SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { StoreScope } from '@fulfilment/contracts';
import type { RouteTargets } from '../route-targets.js';

const scopesMetadata = 'access:scopes';
const publicRouteMetadata = 'access:public';
const rateLimitMetadata = 'access:rate-limit';

/** Declares the scopes that a token needs. Every route has `@Scopes()`, `@NoScopes()` or `@Public()`. */
export const Scopes = (...scopes: readonly [StoreScope, ...StoreScope[]]) =>
  SetMetadata(scopesMetadata, scopes);

/** Declares that the route needs a token for this API, but no scope. */
export const NoScopes = () => SetMetadata(scopesMetadata, []);

/** Declares that the route needs no token. */
export const Public = () => SetMetadata(publicRouteMetadata, true);

export type RateLimitName = 'default' | 'orders-create' | 'quotes' | 'stats';

/** Declares the quota that the route uses instead of `default`. */
export const RateLimit = (name: RateLimitName) => SetMetadata(rateLimitMetadata, name);

/** Returns scopes and quota of a route, or that it is public. @throws Error if it declares neither */
export function accessRulesOf(
  reflector: Reflector,
  targets: RouteTargets,
): 'public' | { readonly scopes: readonly string[]; readonly quota: RateLimitName } {
  const read = <Value>(key: string) => reflector.getAllAndOverride<Value | undefined>(key, targets);
  if (read<boolean>(publicRouteMetadata) === true) return 'public';
  const scopes = read<readonly string[]>(scopesMetadata);
  if (scopes === undefined) {
    const route = targets.map((target) => target.name).join(' of ');
    throw new Error(`The route ${route} needs @Scopes(), @NoScopes() or @Public().`);
  }
  return { scopes, quota: read<RateLimitName>(rateLimitMetadata) ?? 'default' };
}
