import type { AccessTokenClaims } from '@fulfilment/contracts';
import { parse, stringify } from 'node:querystring';
import { isReadable } from '../requests/unreadable-text.js';
import { handleOfNothing, presented } from './access-tokens.js';
import type { FormChange } from './request-bodies.js';

const swapped = new WeakMap<object, AccessTokenClaims>();

/**
 * oidc-provider refuses any JWT at introspection and revocation (400), however malformed. This puts the handle of its record in its
 * place. @param readAhead told of the record that will be looked up
 */
export function swapSignedToken(readAhead: (request: object, jti: string) => void): FormChange {
  return (request, body) => {
    const form = parse(body.toString());
    const { token, token_type_hint: hint } = form;
    if (typeof token !== 'string' || Array.isArray(hint)) return body; // sent twice they are refused further on
    if (!token.includes('.')) return body; // all others of ours have no dots
    const read = presented(token);
    if (read === undefined) return Buffer.from(stringify({ ...form, token: handleOfNothing }));
    swapped.set(request, read.claims);
    if (isReadable(read.claims.jti)) readAhead(request, read.claims.jti);
    return Buffer.from(stringify({ ...form, token: read.handle, token_type_hint: 'access_token' }));
  };
}

/** Introspection of a swapped token that was found answers with the audience and id that the token itself has. */
export async function describeSwappedToken(
  ctx: { readonly req: object; body?: unknown },
  next: () => Promise<unknown>,
): Promise<void> {
  await next();
  const claims = swapped.get(ctx.req);
  if (claims !== undefined && isActive(ctx.body))
    ctx.body = { ...ctx.body, aud: claims.aud, jti: claims.jti };
}

function isActive(body: unknown): body is { active: true } {
  return typeof body === 'object' && body !== null && 'active' in body && body.active === true;
}
