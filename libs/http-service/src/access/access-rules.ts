import { SetMetadata } from '@nestjs/common';
import type { StoreScope } from '@fulfilment/contracts';

export const scopesMetadata = 'access:scopes';
export const publicRouteMetadata = 'access:public';
export const rateLimitMetadata = 'access:rate-limit';

/** Declares the scopes that a token needs. Every route has `@Scopes()`, `@AnyToken()` or `@Public()`. */
export const Scopes = (...scopes: readonly [StoreScope, ...StoreScope[]]) =>
  SetMetadata(scopesMetadata, scopes);

/** Declares that any token for this API is enough. */
export const AnyToken = () => SetMetadata(scopesMetadata, []);

/** Declares that the route needs no token. */
export const Public = () => SetMetadata(publicRouteMetadata, true);

export type RateLimitName = 'default' | 'orders-create' | 'quotes' | 'stats';

/** Declares the quota that the route uses instead of `default`. */
export const RateLimit = (name: RateLimitName) => SetMetadata(rateLimitMetadata, name);
