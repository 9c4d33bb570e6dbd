import type { AccessTokenClaims } from '@fulfilment/contracts';
import { Attached } from '@fulfilment/runtime';
import { parse, stringify } from 'node:querystring';
import { isStorableText } from '../../http/storable-text.js';
import { handleOf, parsePresentedToken, unknownHandle } from '../access-tokens/access-tokens.js';
import type { FormHook } from '../requests/request-bodies.js';

/** The claims of the JWT in a request that a handle replaced. */
const replacedClaims = new Attached<AccessTokenClaims>();

/**
 * Replaces a JWT in an introspection or revocation request by its handle, since oidc-provider rejects any JWT
 * there with 400.
 * @param prefetch called with the id of the token that oidc-provider will look up
 */
export function replaceJwtWithHandle(prefetch: (request: object, jti: string) => void): FormHook {
  return (request, body) => {
    const form = parse(body.toString());
    const { token, token_type_hint: hint } = form;
    // oidc-provider rejects repeated parameters.
    if (typeof token !== 'string' || Array.isArray(hint)) return body;
    if (!token.includes('.')) return body; // only our access tokens have dots
    const parsed = parsePresentedToken(token);
    if (parsed === undefined) return Buffer.from(stringify({ ...form, token: unknownHandle }));
    replacedClaims.set(request, parsed.claims);
    if (isStorableText(parsed.claims.jti)) prefetch(request, parsed.claims.jti);
    return Buffer.from(stringify({ ...form, token: handleOf(parsed), token_type_hint: 'access_token' }));
  };
}

/** Adds the audience and id of the JWT to the introspection response for its handle. */
export async function describeReplacedToken(
  ctx: { readonly req: object; body?: unknown },
  next: () => Promise<unknown>,
): Promise<void> {
  await next();
  const claims = replacedClaims.get(ctx.req);
  if (claims !== undefined && isActive(ctx.body))
    ctx.body = { ...ctx.body, aud: claims.aud, jti: claims.jti };
}

function isActive(body: unknown): body is { active: true } {
  return typeof body === 'object' && body !== null && 'active' in body && body.active === true;
}
