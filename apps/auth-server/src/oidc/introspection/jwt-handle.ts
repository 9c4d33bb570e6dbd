import { parse, stringify } from 'node:querystring';
import { isStorableText } from '../../http/storable-text.js';
import type { StoredRows } from '../../tokens/stored-rows.js';
import { handleOf, parsePresentedToken } from '../access-tokens/access-tokens.js';

/**
 * Replaces a JWT in an introspection or revocation request by its handle, since oidc-provider rejects any JWT
 * there with 400. Prefetches the row of its token.
 */
export function replaceJwtWithHandle(request: object, body: Buffer, stored: StoredRows): Buffer {
  const form = parse(body.toString());
  const { token, token_type_hint: hint } = form;
  // oidc-provider rejects repeated parameters.
  if (typeof token !== 'string' || Array.isArray(hint)) return body;
  if (!token.includes('.')) return body; // not a JWT, probably a refresh token
  const parsed = parsePresentedToken(token);
  const jti = parsed?.claims.jti;
  if (jti !== undefined && isStorableText(jti)) stored.prefetch(request, 'AccessToken', jti);
  // An invalid token is replaced by the handle of an empty string, so that the form stays below
  // oidc-provider's limit.
  const handle = handleOf(parsed === undefined ? '' : token);
  return Buffer.from(stringify({ ...form, token: handle, token_type_hint: 'access_token' }));
}
