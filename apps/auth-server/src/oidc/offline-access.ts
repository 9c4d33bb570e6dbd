import { decodeJwt } from 'jose';
import type { Client, KoaContextWithOIDC } from 'oidc-provider';

const scopeName = 'offline_access';

/**
 * Gives `offline_access` back, which oidc-provider drops unless the request says `prompt=consent`. OIDC Core §11 allows "other
 * conditions" for it: here consent to it is always collected, once per user, client and creator.
 */
export function keepOfflineAccess(ctx: KoaContextWithOIDC, client: Client): void {
  const params = ctx.oidc.params;
  if (params === undefined || !client.grantTypeAllowed('refresh_token')) return;
  const scopes = words(params.scope);
  if (scopes.includes(scopeName) || !words(requestedScope(ctx)).includes(scopeName)) return;
  params.scope = [...scopes, scopeName].join(' ');
}

/** The scope as the client wrote it; that of a pushed request lies in the pushed request (RFC 9126). */
function requestedScope(ctx: KoaContextWithOIDC): unknown {
  const pushed = ctx.oidc.entities.PushedAuthorizationRequest;
  if (pushed !== undefined) return decodeJwt(pushed.request)['scope'];
  return ctx.method === 'POST' ? ctx.oidc.body?.scope : ctx.query['scope'];
}

function words(scope: unknown): string[] {
  return typeof scope === 'string' ? scope.split(' ').filter((word) => word !== '') : [];
}
