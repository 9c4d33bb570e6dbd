import { isOutage, toErrorResponse } from '@fulfilment/error-envelope';
import type { Logger } from '@fulfilment/runtime';
import type { KoaContextWithOIDC, default as Provider } from 'oidc-provider';
import { unavailablePage } from '../pages/message.page.js';
import { sendPage } from '../pages/provider-pages.js';
import { isPublicDocument, isVisited, mountPath } from '../requests/kinds-of-path.rules.js';
import { holdAnswer } from '../tokens/reuse.js';
import type { UnitOfWork } from '../tokens/unit-of-work.js';
import { noSuchPath } from './refusals.js';

/** What these need of a Koa context. */
interface Exchange {
  readonly req: object;
  readonly method: string;
  readonly path: string;
  status: number;
  body?: unknown;
  set(fields: Record<string, string>): void;
  set(name: string, value: string): void;
  remove(name: string): void;
}
type Next = () => Promise<unknown>;

const cacheSeconds = 300;
const unavailable = {
  error: 'temporarily_unavailable',
  error_description: 'The service is temporarily unavailable.',
};

/** Runs a middleware on its own paths only: an async middleware costs every request it wraps. */
export function onlyAt<Context extends object>(
  paths: RegExp,
  middleware: (ctx: Context, next: Next) => Promise<unknown>,
) {
  return (ctx: Context & { readonly path: string }, next: Next): Promise<unknown> =>
    paths.test(ctx.path) ? middleware(ctx, next) : next();
}

/** A dependency that is away is 503 with `Retry-After`, not a server error; what nobody foresaw is logged with its cause. */
export function answerOutages(provider: Provider, logger: Logger) {
  const failures = new WeakMap<object, unknown>();
  provider.on('server_error', (ctx, error) => failures.set(ctx.req, error));
  return async (ctx: Exchange, next: Next): Promise<void> => {
    let failure: unknown;
    try {
      await next();
      failure = failures.get(ctx.req);
    } catch (error) {
      failure = error;
      ctx.status = 500;
      ctx.body = { error: 'server_error', error_description: 'oops! something went wrong' };
    }
    if (failure === undefined) return;
    logger.error({ error: failure }, 'A request to the authorization server failed.');
    if (!isOutage(failure)) return;
    ctx.status = 503;
    ctx.remove('Location');
    ctx.set('Retry-After', '2');
    if (isVisited(`${mountPath}${ctx.path}`)) sendPage(ctx, unavailablePage());
    else ctx.body = unavailable;
  };
}

/** What oidc-provider has no route for: the envelope, like everywhere. */
export async function answerUnknownPaths(ctx: Exchange, next: Next): Promise<void> {
  await next();
  if (ctx.status !== 404 || (ctx.body !== undefined && ctx.body !== null)) return;
  ctx.body = toErrorResponse(noSuchPath).body;
  ctx.status = 404;
}

/** RFC 6749 §5.1, RFC 7009, RFC 7662, RFC 7591: no response of these endpoints may be stored, errors included. */
export function forbidStoring(ctx: Exchange, next: Next): Promise<unknown> {
  ctx.set('Cache-Control', 'no-store');
  return next();
}

/** Keys and metadata change rarely, and a next key is published long before it signs. */
export async function cachePublicDocuments(ctx: Exchange, next: Next): Promise<void> {
  await next();
  if (ctx.status === 200 && isPublicDocument(ctx.path))
    ctx.set('Cache-Control', `public, max-age=${cacheSeconds}`);
}

/**
 * The token and revocation endpoints store all they do at once, and nothing when they fail. Refusals are kept: a reuse ends its
 * family. Whoever was second by a hair learns it only now, in place of the answer it nearly got.
 */
export function inOneTransaction(provider: Provider, work: UnitOfWork) {
  return async (ctx: KoaContextWithOIDC, next: Next): Promise<void> => {
    if (ctx.method !== 'POST') {
      await next();
      return;
    }
    const refusal = await work.run(async () => {
      await next();
      if (ctx.status >= 400) work.refuseTokens();
      await holdAnswer(ctx);
      return ctx.status < 500;
    });
    if (refusal === undefined) return;
    ctx.status = refusal.statusCode;
    ctx.body = { error: refusal.error, error_description: refusal.error_description };
    provider.emit('grant.error', ctx, refusal);
  };
}
