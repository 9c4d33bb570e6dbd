import { DependencyUnavailable } from '@fulfilment/error-envelope';
import type { Logger } from '@fulfilment/runtime';
import type { KoaContextWithOIDC, default as Provider } from 'oidc-provider';
import { isBrowserRoute, mountPath } from '../http/route-kind.rules.js';
import { unavailablePage } from '../pages/message.page.js';
import { sendPage } from '../pages/provider-pages.js';
import { delayResponse } from '../tokens/reuse.js';
import type { UnitOfWork } from '../tokens/unit-of-work.js';

/** The part of a Koa context that `respondToOutages` uses. */
interface OutageContext {
  readonly req: object;
  readonly path: string;
  status: number;
  body?: unknown;
  set(fields: Record<string, string>): void;
  set(name: string, value: string): void;
  remove(name: string): void;
}
type Next = () => Promise<unknown>;

const unavailable = {
  error: 'temporarily_unavailable',
  error_description: 'The service is temporarily unavailable.',
};

/**
 * Runs a middleware for its own paths only: an async middleware costs time in every request that it wraps.
 */
export function onlyAt<Ctx extends object>(
  paths: RegExp,
  middleware: (ctx: Ctx, next: Next) => Promise<unknown>,
) {
  return (ctx: Ctx & { readonly path: string }, next: Next): Promise<unknown> =>
    paths.test(ctx.path) ? middleware(ctx, next) : next();
}

/**
 * An unavailable dependency is 503 with `Retry-After`, not a server error. Unexpected errors are logged with
 * their cause.
 */
export function respondToOutages(provider: Provider, logger: Logger) {
  /** The cause of a request's `server_error` response. */
  const failures = new WeakMap<object, unknown>();
  provider.on('server_error', (ctx, error) => failures.set(ctx.req, error));
  return async (ctx: OutageContext, next: Next): Promise<void> => {
    let failure: unknown;
    try {
      await next();
      failure = failures.get(ctx.req);
    } catch (error) {
      failure = error;
      ctx.status = 500;
      ctx.body = { error: 'server_error', error_description: 'An unexpected error occurred on the server.' };
    }
    if (failure === undefined) return;
    logger.error({ error: failure }, 'A request to the authorization server failed.');
    if (!(failure instanceof DependencyUnavailable)) return;
    ctx.status = 503;
    ctx.remove('Location');
    ctx.set('Retry-After', '2');
    if (isBrowserRoute(`${mountPath}${ctx.path}`)) sendPage(ctx, unavailablePage());
    else ctx.body = unavailable;
  };
}

/**
 * The token and revocation endpoints store everything in one commit, or nothing when they fail. An error
 * response still commits what it revoked, since a reuse ends its token family. A request that lost a race
 * finds that out at the commit, and its response is replaced by `invalid_grant`. Before the commit, the
 * response is delayed until concurrent requests with the same token have arrived, so that these lose a race
 * and are no replay.
 */
export function inUnitOfWork(provider: Provider, unitOfWork: UnitOfWork) {
  return async (ctx: KoaContextWithOIDC, next: Next): Promise<void> => {
    if (ctx.method !== 'POST') {
      await next();
      return;
    }
    const rejection = await unitOfWork.run(async () => {
      await next();
      if (ctx.status >= 400) unitOfWork.discardTokens();
      await delayResponse(ctx);
      return ctx.status < 500;
    });
    if (rejection === undefined) return;
    ctx.status = rejection.statusCode;
    ctx.body = { error: rejection.error, error_description: rejection.error_description };
    provider.emit('grant.error', ctx, rejection);
  };
}
