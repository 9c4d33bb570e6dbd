import type { Client, KoaContextWithOIDC } from 'oidc-provider';
import { rejectLargeParameters } from './authorization-size.js';
import { keepOfflineAccess } from './offline-access.js';
import { refuseOtherResponseModes } from './response-modes.js';
import { refuseUnknownScopes } from './strict-scopes.js';

/**
 * What we ask of every authorization request, pushed or not, on top of oidc-provider's own checks. It has no hook for that, but checks
 * an extra parameter at each request, also where it is not sent, and once client and redirect address are known to be good: so a refusal
 * goes to the app. Which creator may be named is for later, when it is known who signs in (grants.ts).
 */
export function judgeAuthorization(ctx: KoaContextWithOIDC, _creator: unknown, client: Client): void {
  refuseOtherResponseModes(ctx);
  rejectLargeParameters(ctx);
  keepOfflineAccess(ctx, client);
  refuseUnknownScopes(ctx);
}
