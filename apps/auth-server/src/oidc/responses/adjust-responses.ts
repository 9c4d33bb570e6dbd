import { toErrorResponse } from '@fulfilment/error-envelope';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { noSuchPath } from './error-responses.js';

type Context = Pick<KoaContextWithOIDC, 'status' | 'body' | 'set'>;
type Next = () => Promise<unknown>;

const publicCacheSeconds = 300;

/** Responds with 404 and the error envelope to a path that oidc-provider has no route for. */
export async function respondToUnknownPaths(ctx: Context, next: Next): Promise<void> {
  await next();
  if (ctx.status !== 404 || (ctx.body !== undefined && ctx.body !== null)) return;
  ctx.body = toErrorResponse(noSuchPath).body;
  ctx.status = 404;
}

/** Forbids storing any response, errors included (RFC 6749 §5.1, RFC 7009, RFC 7662, RFC 7591). */
export function forbidStoring(ctx: Context, next: Next): Promise<unknown> {
  ctx.set('Cache-Control', 'no-store');
  return next();
}

/** Lets clients cache keys and metadata. They change rarely; a next key is published long before it signs. */
export async function cachePublicDocuments(ctx: Context, next: Next): Promise<void> {
  await next();
  if (ctx.status === 200) ctx.set('Cache-Control', `public, max-age=${publicCacheSeconds}`);
}

/**
 * Replaces the response modes in the metadata by the supported ones (RFC 8414 §2). oidc-provider's own list
 * cannot be configured.
 */
export async function advertiseResponseModes(ctx: Context, next: Next): Promise<void> {
  await next();
  if (typeof ctx.body === 'object' && ctx.body !== null && 'response_modes_supported' in ctx.body)
    ctx.body = { ...ctx.body, response_modes_supported: ['query'] };
}

/**
 * Responds to introspection and revocation without client authentication with 401 `invalid_client` (RFC 7662
 * §2.3, RFC 6749 §5.2), in place of oidc-provider's 400.
 */
export async function respondToMissingClient(ctx: Context, next: Next): Promise<void> {
  await next();
  if (ctx.status !== 400 || !isMissingClient(ctx.body)) return;
  ctx.status = 401;
  ctx.set('WWW-Authenticate', 'Basic realm="clients"');
  ctx.body = { error: 'invalid_client', error_description: 'client authentication is required' };
}

/** Compares the text, since oidc-provider's error code for a missing authentication is `invalid_request`. */
function isMissingClient(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || !('error_description' in body)) return false;
  return body.error_description === 'no client authentication mechanism provided';
}
