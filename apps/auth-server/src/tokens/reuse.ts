import { Attached } from '@fulfilment/runtime';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { default as Provider, KoaContextWithOIDC } from 'oidc-provider';
import { originOf } from '../audit/audit-log.js';
import { minResponseMs, type Arrival, arrival, isRace, classifyReuse } from './reuse.rules.js';
import type { ResponseTimestampStore } from './response-timestamps.js';
import type { UnitOfWork } from './unit-of-work.js';

/** Arrival times of requests: mount.ts sets them; they are read before the response and after a reuse. */
const arrivals = new Attached<Arrival>();

/** Records when a request arrived. Call before anything asynchronous. */
export function recordArrival(request: IncomingMessage): void {
  arrivals.set(request, arrival(Date.now(), request.headers['x-connection-age']));
}

/**
 * Delays the response to an exchange or refresh until requests that were sent concurrently have arrived. The
 * delay is before the commit: a process that dies between commit and response leaves the client with a used
 * token and no successor.
 */
export async function delayResponse(ctx: KoaContextWithOIDC): Promise<void> {
  const arrivedAtMs = arrivals.get(ctx.req)?.arrivedAtMs;
  const minMs = minResponseMs[String(ctx.oidc?.params?.grant_type)];
  if (ctx.status !== 200 || arrivedAtMs === undefined || minMs === undefined) return;
  // Sleeps even if the time is over: a response sent from a timer is followed by the event loop's poll phase,
  // which reads the requests that are already in the sockets.
  await sleep(Math.max(1, arrivedAtMs + minMs - Date.now()));
}

/** Records the timestamps of the response to each successful exchange and refresh. */
export function recordResponseTimestamps(
  provider: Provider,
  timestamps: ResponseTimestampStore,
  unitOfWork: UnitOfWork,
): void {
  provider.on('grant.success', (ctx) => {
    const { AuthorizationCode: code, RotatedRefreshToken: refreshToken } = ctx.oidc.entities;
    const consumed = refreshToken ?? code;
    if (consumed === undefined) return;
    unitOfWork.afterCommit(() => timestamps.recordWhenSent(ctx.res, consumed.kind, consumed.jti));
  });
}

/**
 * Decides whether a token family ends. oidc-provider calls it when a code or refresh token is used again, by
 * the right client with the right verifier, and when a token is revoked. A replay ends the family (RFC 9700
 * §4.14.2). A request that was sent before the winner's response is a race, not a replay: it is rejected, and
 * the winner keeps its tokens. Revoking an access token ends only that token.
 */
export function shouldRevokeFamily(timestamps: ResponseTimestampStore, unitOfWork: UnitOfWork) {
  return async (ctx: KoaContextWithOIDC): Promise<boolean> => {
    const { route, entities, client } = ctx.oidc;
    if (route === 'revocation') return entities.AccessToken === undefined;
    if (route !== 'token') return true;
    const token = await reusedToken(ctx);
    if (token === undefined || !(await lostRace(token, arrivals.get(ctx.req), timestamps))) return true;
    await unitOfWork.writeAudit({
      origin: originOf({ ip: ctx.ip, headers: ctx.headers }),
      entry: {
        event: 'token_race_lost',
        clientId: client?.clientId,
        userId: token.accountId,
        details: { grant_id: token.grantId },
      },
    });
    return false;
  };
}

async function lostRace(
  token: { readonly kind: string; readonly jti: string; readonly consumed?: unknown },
  arrived: Arrival | undefined,
  timestamps: ResponseTimestampStore,
): Promise<boolean> {
  const { consumed } = token;
  if (typeof consumed !== 'number' || arrived === undefined) return false;
  const kind = classifyReuse(arrived, consumed * 1000);
  if (kind !== 'undecided') return kind === 'race';
  return isRace(arrived, await timestamps.find(token.kind, token.jti));
}

/** The token that was used again. */
async function reusedToken(ctx: KoaContextWithOIDC) {
  const { provider, entities, params } = ctx.oidc;
  const code = params?.code;
  if (entities.RefreshToken !== undefined) return entities.RefreshToken;
  if (typeof code !== 'string') return undefined;
  return provider.AuthorizationCode.find(code, { ignoreExpiration: true });
}
