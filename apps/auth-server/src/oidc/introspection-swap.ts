import type { AccessTokenClaims } from '@fulfilment/contracts';
import { ValidationFailed } from '@fulfilment/error-envelope';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { stringify } from 'node:querystring';
import { Readable } from 'node:stream';
import { handleOfNothing, presented } from './access-tokens.js';
import { isReadable, isReadableWhenDecoded } from './unreadable-text.js';

const parseForm = express.urlencoded({
  extended: false,
  limit: 56 * 1024,
  parameterLimit: 20,
  verify: notice,
});
const unreadable = new WeakSet<object>();
const swapped = new WeakMap<object, AccessTokenClaims>();

/**
 * oidc-provider refuses anything that looks like a JWT at introspection and revocation. These handlers put the handle of its record
 * in its place.
 */
export function swapSignedToken(readAhead: (request: Request, jti: string) => void): RequestHandler[] {
  return [
    parseForm,
    (request: Request, _response: Response, next: NextFunction): void => {
      if (unreadable.has(request))
        return next(new ValidationFailed([{ field: 'body', reason: 'malformed_encoding' }]));
      const form: unknown = request.body;
      if (typeof form !== 'object' || form === null) return next();
      readAgain(request, withoutJwt(request, { ...form }, readAhead));
      next();
    },
  ];
}

/** Before it is parsed: that puts a sign in place of what is no text. */
function notice(request: object, _response: object, body: Buffer): void {
  if (!isReadableWhenDecoded(body)) unreadable.add(request);
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

function withoutJwt(
  request: Request,
  form: Record<string, unknown>,
  readAhead: (request: Request, jti: string) => void,
): Record<string, unknown> {
  const token = form['token'];
  if (typeof token !== 'string' || !token.startsWith('eyJ')) return form;
  const read = presented(token);
  if (read === undefined) return { ...form, token: handleOfNothing };
  swapped.set(request, read.claims);
  if (isReadable(read.claims.jti)) readAhead(request, read.claims.jti);
  return { ...form, token: read.handle, token_type_hint: 'access_token' };
}

/** Lets oidc-provider read the form as if nobody had before; a body that was parsed already makes it complain. */
function readAgain(request: Request, form: Record<string, unknown>): void {
  const bytes = Buffer.from(
    stringify(Object.fromEntries(Object.entries(form).map(([name, value]) => [name, texts(value)]))),
  );
  request.headers['content-length'] = String(bytes.length);
  delete request.headers['transfer-encoding'];
  Object.defineProperty(request, 'readable', { value: true });
  Object.defineProperty(request, 'iterator', { configurable: true, value: () => Readable.from([bytes]) });
}

/** A field that was sent twice stays so: that is refused further on. */
function texts(value: unknown): string | string[] {
  return Array.isArray(value) ? value.map(String) : String(value);
}

function isActive(body: unknown): body is { active: true } {
  return typeof body === 'object' && body !== null && 'active' in body && body.active === true;
}
