import { setTimeout as sleep } from 'node:timers/promises';
import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { arrivalOf } from '../tokens/reuse/request-arrivals.js';
import type { ResponseTimestampStore } from '../tokens/reuse/response-timestamps.js';
import { auditReuse } from '../tokens/reuse/reuse.js';
import { minResponseMs } from '../tokens/reuse/reuse.rules.js';
import { ConsumedConcurrently } from '../tokens/unit-of-work/deferred-tokens.js';
import type { UnitOfWork } from '../tokens/unit-of-work/unit-of-work.js';

/**
 * Middleware: a request to the token or revocation endpoint, or to manage a client (RFC 7592), stores
 * everything in one commit, or nothing when its response is a server error. Another error response still
 * commits the end of a token family, but no tokens.
 * A request that lost a race finds that out at the commit, and its response is replaced by `invalid_grant`.
 */
export function inUnitOfWork(unitOfWork: UnitOfWork, timestamps: ResponseTimestampStore) {
  return async (ctx: KoaContextWithOIDC, next: () => Promise<unknown>): Promise<void> => {
    try {
      await unitOfWork.run(async () => {
        await next();
        await delayResponse(ctx);
        if (ctx.status >= 500) return 'roll back';
        return ctx.status >= 400 ? 'commit without tokens' : 'commit';
      });
      if (ctx.status === 200) recordTimestamps(ctx, timestamps);
    } catch (error) {
      if (!(error instanceof errors.InvalidGrant)) throw error;
      ctx.status = error.statusCode;
      ctx.body = { error: error.error, error_description: error.error_description };
      if (error instanceof ConsumedConcurrently) await auditReuse(ctx, unitOfWork, 'token_race_lost');
    }
  };
}

/**
 * Delays the response to a successful exchange or refresh until requests that were sent concurrently with the
 * same token have arrived, so that they count as a race and not as a replay. The delay is before the commit:
 * a process that dies between commit and response leaves the client with a used token and no successor.
 */
async function delayResponse(ctx: KoaContextWithOIDC): Promise<void> {
  const arrivedAtMs = arrivalOf(ctx.req)?.arrivedAtMs;
  const minMs = minResponseMs[String(ctx.oidc?.params?.grant_type)];
  if (ctx.status !== 200 || arrivedAtMs === undefined || minMs === undefined) return;
  // Sleeps even if the time is over: between a timer and the end of the commit, the process reads the
  // requests that are already in its sockets.
  const remainingMs = arrivedAtMs + minMs - Date.now(); // more than minMs if the clock was set back
  await sleep(Math.min(minMs, Math.max(1, remainingMs)));
}

/** Records when the response to a successful exchange or refresh is sent. */
function recordTimestamps({ oidc, res }: KoaContextWithOIDC, timestamps: ResponseTimestampStore): void {
  const consumed = oidc.entities.RotatedRefreshToken ?? oidc.entities.AuthorizationCode;
  if (consumed !== undefined) timestamps.recordWhenSent(res, consumed.kind, consumed.jti);
}
