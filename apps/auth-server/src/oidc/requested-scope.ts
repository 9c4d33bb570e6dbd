import { decodeJwt } from 'jose';
import type { KoaContextWithOIDC } from 'oidc-provider';

/**
 * The scopes as the client asked for them. By the time our rules run, oidc-provider has left out those it does not know.
 * Those of a pushed request lie in the pushed request (RFC 9126).
 */
export function requestedScopes(ctx: KoaContextWithOIDC): string[] {
  const pushed = ctx.oidc.entities.PushedAuthorizationRequest;
  if (pushed !== undefined) return words(decodeJwt(pushed.request)['scope']);
  return words(ctx.method === 'POST' ? ctx.oidc.body?.scope : ctx.query['scope']);
}

export function words(scope: unknown): string[] {
  return typeof scope === 'string' ? scope.split(' ').filter((word) => word !== '') : [];
}
