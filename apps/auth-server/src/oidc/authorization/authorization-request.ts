import { identityScopes, storeScopes } from '@fulfilment/contracts';
import { decodeJwt } from 'jose';
import { type Client, errors, type KoaContextWithOIDC, type default as Provider } from 'oidc-provider';

const offlineAccess = 'offline_access';
/** In UTF-16 code units. The longest parameter that a client needs is an ID token as a hint. */
const maxParameterLength = 2_048;
const maxTotalLength = 8_192;

/** All scopes of the suite. */
export const knownScopes: readonly string[] = [...Object.keys(identityScopes), ...Object.keys(storeScopes)];

/**
 * Validates every authorization request, pushed or not, in addition to oidc-provider, and restores
 * `offline_access`. oidc-provider has no hook for a whole request, so this is the validator of the extra
 * parameter `creator` (provider.ts), which oidc-provider calls even for a request without the parameter. The
 * client and its redirect URI are valid by then, so an error can be redirected to the app. The value of
 * `creator` is validated later, when the user is known (grants.ts).
 */
export function validateAuthorizationRequest(
  ctx: KoaContextWithOIDC,
  _creator: unknown,
  client: Client,
): void {
  requireQueryResponseMode(ctx);
  rejectLargeParameters(ctx);
  restoreOfflineAccess(ctx, client);
  rejectUnknownScopes(ctx);
}

/**
 * `form_post` needs a page with a script, and no page of ours has one; `fragment` needs a script at the app.
 * @throws InvalidRequest
 */
function requireQueryResponseMode(ctx: KoaContextWithOIDC): void {
  const requested = ctx.oidc.params?.['response_mode'];
  if (requested !== undefined && requested !== 'query')
    throw new errors.InvalidRequest('response_mode must be query');
}

/**
 * Makes every error response ignore `response_mode`, also one that is sent before `requireQueryResponseMode`
 * has rejected the mode. oidc-provider emits these events just before it reads the mode.
 */
export function ignoreResponseModeOfErrors(provider: Provider): void {
  const removeMode = ({ oidc: { params } }: KoaContextWithOIDC): void => {
    if (params !== undefined) params['response_mode'] = undefined;
  };
  provider.on('authorization.error', removeMode);
  provider.on('server_error', removeMode);
}

/**
 * Parameters are stored while a person signs in, and pushed ones until they are used. Anyone can send them,
 * so their size is limited.
 * @throws InvalidRequest that names the parameter
 */
function rejectLargeParameters(ctx: KoaContextWithOIDC): void {
  let total = 0;
  for (const [name, value] of Object.entries(ctx.oidc.params ?? {})) {
    if (typeof value !== 'string') continue;
    total += name.length + value.length;
    if (value.length <= maxParameterLength) continue;
    rejectAsTooLarge(ctx, `${name} must be at most ${maxParameterLength} characters`);
  }
  if (total > maxTotalLength)
    rejectAsTooLarge(ctx, `parameters must be at most ${maxTotalLength} characters in total`);
}

/** Removes a large `state`, which the error response would otherwise return to the app. */
function rejectAsTooLarge(ctx: KoaContextWithOIDC, reason: string): never {
  const { params } = ctx.oidc;
  if (typeof params?.['state'] === 'string' && params['state'].length > maxParameterLength)
    params['state'] = undefined;
  throw new errors.InvalidRequest(reason);
}

/**
 * Restores `offline_access`, which oidc-provider removes unless the request has `prompt=consent`. OIDC Core
 * §11 allows "other conditions" for it: here the consent always covers it, once per user, client and creator.
 */
function restoreOfflineAccess(ctx: KoaContextWithOIDC, client: Client): void {
  const params = ctx.oidc.params;
  if (params === undefined || !client.grantTypeAllowed('refresh_token')) return;
  const scopes = splitScope(params.scope);
  if (scopes.includes(offlineAccess) || !requestedScopes(ctx).includes(offlineAccess)) return;
  params.scope = [...scopes, offlineAccess].join(' ');
}

/**
 * An unknown or missing scope is `invalid_scope` (RFC 6749 §3.3, §4.1.2.1); oidc-provider would ignore it.
 */
function rejectUnknownScopes(ctx: KoaContextWithOIDC): void {
  const requested = requestedScopes(ctx);
  if (requested.length === 0) throw new errors.InvalidScope('at least one scope is required', '');
  const unknown = requested.filter((name) => !knownScopes.includes(name));
  if (unknown.length > 0) throw new errors.InvalidScope('unknown scope', unknown.join(' '));
}

/**
 * Returns the scopes as the client sent them: oidc-provider has already removed those it does not know. It
 * stores a pushed request (RFC 9126) as a JWT, which contains them.
 */
function requestedScopes(ctx: KoaContextWithOIDC): string[] {
  const pushed = ctx.oidc.entities.PushedAuthorizationRequest;
  if (pushed !== undefined) return splitScope(decodeJwt(pushed.request)['scope']);
  return splitScope(ctx.method === 'POST' ? ctx.oidc.body?.scope : ctx.query['scope']);
}

export function splitScope(scope: unknown): string[] {
  return typeof scope === 'string' ? scope.split(' ').filter((name) => name !== '') : [];
}
