import { SetMetadata } from '@nestjs/common';
import type { StoreScope } from '@fulfilment/contracts';

export const scopesKey = 'access:scopes';
export const publicKey = 'access:public';
export const rateLimitKey = 'access:rate-limit';

/**
 * The scopes a token needs. Without arguments, any token for this API is enough. Required on every route
 * without `@Public()`.
 */
export const Scopes = (...scopes: readonly StoreScope[]) => SetMetadata(scopesKey, scopes);

/** The route needs no token. */
export const Public = () => SetMetadata(publicKey, true);

export const rateLimitNames = ['default', 'orders-create', 'quotes', 'stats'] as const;
export type RateLimitName = (typeof rateLimitNames)[number];

/** The route uses its own quota instead of `default`. */
export const RateLimit = (name: RateLimitName) => SetMetadata(rateLimitKey, name);
