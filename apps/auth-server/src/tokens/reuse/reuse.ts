import type { KoaContextWithOIDC } from 'oidc-provider';
import { originOf } from '../../audit/audit-log.js';
import { arrivalOf } from './request-arrivals.js';
import type { ResponseTimestampStore } from './response-timestamps.js';
import { classifyReuse, isRace } from './reuse.rules.js';
import type { UnitOfWork } from '../unit-of-work/unit-of-work.js';

/**
 * Decides whether a token family ends. oidc-provider calls it
 * - when a token is revoked: an access token ends without its family;
 * - at a sign-out: the family ends;
 * - when the right client uses a code or refresh token again: a replay ends the family (RFC 9700 §4.14.2). A
 *   request that was sent before the winner's response is a race: it is rejected and audited, and the winner
 *   keeps its tokens.
 */
export function shouldRevokeFamily(timestamps: ResponseTimestampStore, unitOfWork: UnitOfWork) {
  return async (ctx: KoaContextWithOIDC): Promise<boolean> => {
    const { route, entities } = ctx.oidc;
    if (route === 'revocation') return entities.AccessToken === undefined;
    if (route !== 'token') return true; // a sign-out
    const lostRace = await hasLostRace(ctx, timestamps);
    await auditReuse(ctx, unitOfWork, lostRace ? 'token_race_lost' : 'token_reused');
    return !lostRace;
  };
}

/** Audits a request that lost a race for its code or refresh token, or replayed it. */
export async function auditReuse(
  ctx: KoaContextWithOIDC,
  unitOfWork: UnitOfWork,
  event: 'token_race_lost' | 'token_reused',
): Promise<void> {
  const { client, entities } = ctx.oidc;
  const token = entities.RefreshToken ?? entities.AuthorizationCode;
  await unitOfWork.writeAudit(
    {
      event,
      clientId: client?.clientId,
      userId: token?.accountId,
      details: { grant_id: token?.grantId },
    },
    originOf(ctx),
  );
}

/** Returns the reused token, and adds it to the request's entities, since audit records name its user. */
async function loadReusedToken(ctx: KoaContextWithOIDC) {
  const { provider, entities, params } = ctx.oidc;
  if (entities.RefreshToken !== undefined) return entities.RefreshToken;
  const code = params?.code;
  if (typeof code !== 'string') return undefined;
  const stored = await provider.AuthorizationCode.find(code, { ignoreExpiration: true });
  if (stored !== undefined) ctx.oidc.entity('AuthorizationCode', stored);
  return stored;
}

/** Whether the reuse is a race with the request that consumed the token, and not a replay. */
async function hasLostRace(ctx: KoaContextWithOIDC, timestamps: ResponseTimestampStore): Promise<boolean> {
  const token: { readonly kind: string; readonly jti: string; readonly consumed?: unknown } | undefined =
    await loadReusedToken(ctx);
  const arrival = arrivalOf(ctx.req);
  if (typeof token?.consumed !== 'number' || arrival === undefined) return false;
  const consumedAtMs = token.consumed * 1000; // `consumed` is in seconds since 1970
  const reuse = classifyReuse(arrival, consumedAtMs);
  if (reuse !== 'undecided') return reuse === 'race';
  return isRace(arrival, await timestamps.find(token.kind, token.jti));
}
