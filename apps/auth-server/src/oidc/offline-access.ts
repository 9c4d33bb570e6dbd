import type { Client, KoaContextWithOIDC } from 'oidc-provider';
import { requestedScopes, words } from './requested-scope.js';

const scopeName = 'offline_access';

/**
 * Gives `offline_access` back, which oidc-provider drops unless the request says `prompt=consent`. OIDC Core §11 allows "other
 * conditions" for it: here consent to it is always collected, once per user, client and creator.
 */
export function keepOfflineAccess(ctx: KoaContextWithOIDC, client: Client): void {
  const params = ctx.oidc.params;
  if (params === undefined || !client.grantTypeAllowed('refresh_token')) return;
  const scopes = words(params.scope);
  if (scopes.includes(scopeName) || !requestedScopes(ctx).includes(scopeName)) return;
  params.scope = [...scopes, scopeName].join(' ');
}
