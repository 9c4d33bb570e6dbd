import type { AccessTokenClaims } from '@fulfilment/contracts';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { type AccessTokenFormat, handleOf, handleOfNothing } from './access-tokens.js';

const parseForm = express.urlencoded({ extended: false, limit: 56 * 1024, parameterLimit: 20 });
const swapped = new WeakMap<object, AccessTokenClaims>();

/**
 * oidc-provider refuses anything that looks like a JWT at introspection and revocation. These handlers read the token first and
 * put the handle of its record in its place.
 */
export function swapSignedToken(format: () => AccessTokenFormat): RequestHandler[] {
  return [
    parseForm,
    (request: Request, _response: Response, next: NextFunction): void => {
      const form: unknown = request.body;
      if (!hasToken(form) || !form.token.startsWith('eyJ')) return next();
      format()
        .read(form.token)
        .then((claims) => {
          if (claims !== undefined) swapped.set(request, claims);
          request.body = {
            ...form,
            token: claims === undefined ? handleOfNothing : handleOf(claims.jti),
            token_type_hint: 'access_token',
          };
          next();
        }, next);
    },
  ];
}

/** Introspection of a swapped token answers with the audience and id that the token itself has. */
export async function describeSwappedToken(
  ctx: { readonly req: object; body?: unknown },
  next: () => Promise<unknown>,
): Promise<void> {
  await next();
  const claims = swapped.get(ctx.req);
  if (claims !== undefined && isActive(ctx.body))
    ctx.body = { ...ctx.body, aud: claims.aud, jti: claims.jti };
}

function hasToken(form: unknown): form is { token: string } {
  return typeof form === 'object' && form !== null && 'token' in form && typeof form.token === 'string';
}

function isActive(body: unknown): body is { active: true } {
  return typeof body === 'object' && body !== null && 'active' in body && body.active === true;
}
