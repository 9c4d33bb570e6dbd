import { setTimeout as sleep } from 'node:timers/promises';
import { errors, type KoaContextWithOIDC, type default as Provider } from 'oidc-provider';
import { arrivalOf } from '../tokens/reuse/request-arrivals.js';
import { minResponseMs } from '../tokens/reuse/reuse.rules.js';
import type { UnitOfWork } from '../tokens/unit-of-work/unit-of-work.js';

/**
 * Middleware: a POST to the token or revocation endpoint stores everything in one commit, or nothing when its
 * response is a server error. Another error response still commits the end of a token family, but no tokens.
 * A request that lost a race finds that out at the commit, and its response is replaced by `invalid_grant`.
 */
export function inUnitOfWork(provider: Provider, unitOfWork: UnitOfWork) {
  return async (ctx: KoaContextWithOIDC, next: () => Promise<unknown>): Promise<void> => {
    if (ctx.method !== 'POST') {
      await next();
      return;
    }
    try {
      await unitOfWork.run(async () => {
        await next();
        if (ctx.status >= 400) unitOfWork.discardTokens();
        await delayResponse(ctx);
        return ctx.status < 500 ? 'commit' : 'roll back';
      });
    } catch (error) {
      if (!(error instanceof errors.InvalidGrant)) throw error;
      ctx.status = error.statusCode;
      ctx.body = { error: error.error, error_description: error.error_description };
      provider.emit('grant.error', ctx, error);
    }
  };
}

/**
 * Delays the response to a successful exchange or refresh until requests that were sent concurrently with the
 * same token have arrived, so that these lose a race and are no replay. The delay is before the commit: a
 * process that dies between commit and response leaves the client with a used token and no successor.
 */
async function delayResponse(ctx: KoaContextWithOIDC): Promise<void> {
  const arrivedAtMs = arrivalOf(ctx.req)?.arrivedAtMs;
  const minMs = minResponseMs[String(ctx.oidc?.params?.grant_type)];
  if (ctx.status !== 200 || arrivedAtMs === undefined || minMs === undefined) return;
  // Sleeps even if the time is over: a response sent from a timer is followed by the event loop's poll phase,
  // which reads the requests that are already in the sockets.
  await sleep(Math.max(1, arrivedAtMs + minMs - Date.now()));
}
