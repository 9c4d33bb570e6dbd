import { SetMetadata } from '@nestjs/common';
import type { StoreScope } from '@fulfilment/contracts';

export const scopesKey = 'access:scopes';
export const publicKey = 'access:public';
export const rateLimitKey = 'access:rate-limit';

/** The scopes a token must hold. Without any, a token for this API is enough. Every route that is not `@Public()` says so. */
export const Scopes = (...scopes: readonly StoreScope[]) => SetMetadata(scopesKey, scopes);

/** Anyone may call it. */
export const Public = () => SetMetadata(publicKey, true);

export const rateLimitNames = ['default', 'orders-create', 'quotes', 'stats'] as const;
export type RateLimitName = (typeof rateLimitNames)[number];

/** Counts against a quota of its own instead of `default`. */
export const RateLimit = (name: RateLimitName) => SetMetadata(rateLimitKey, name);
