import { identityScopes, storeScopes } from '@fulfilment/contracts';
import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { requestedScopes } from './requested-scope.js';

/** Every scope there is. */
export const knownScopes: readonly string[] = [...Object.keys(identityScopes), ...Object.keys(storeScopes)];

/** RFC 6749 §3.3, §4.1.2.1: a scope nobody knows, or none at all, is `invalid_scope`; oidc-provider would pass over it. */
export function refuseUnknownScopes(ctx: KoaContextWithOIDC): void {
  const asked = requestedScopes(ctx);
  if (asked.length === 0) throw new errors.InvalidScope('ask for at least one scope', '');
  const unknown = asked.filter((name) => !knownScopes.includes(name));
  if (unknown.length > 0) throw new errors.InvalidScope('there is no such scope', unknown.join(' '));
}
