import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { default as Provider, KoaContextWithOIDC } from 'oidc-provider';
import { originOf } from '../audit/audit-log.js';
import { answeredAtLeastMs, type Arrival, arrival, isRace, judgeByTime } from './reuse.rules.js';
import type { SentAnswers } from './sent-answers.js';
import type { UnitOfWork } from './unit-of-work.js';

const arrivals = new WeakMap<object, Arrival>();

/** Notes when a request came: before anything that waits. */
export function noteArrival(request: IncomingMessage): void {
  arrivals.set(request, arrival(Date.now(), request.headers['x-connection-age']));
}

/**
 * Keeps an exchange or refresh until those that were sent with it have arrived. Before anything is stored: between the commit and the
 * answer a process that dies leaves the client with a used token and no other.
 */
export async function holdAnswer(ctx: KoaContextWithOIDC): Promise<void> {
  const arrivedAtMs = arrivals.get(ctx.req)?.arrivedAtMs;
  const atLeastMs = answeredAtLeastMs[String(ctx.oidc?.params?.grant_type)];
  if (ctx.status !== 200 || arrivedAtMs === undefined || atLeastMs === undefined) return;
  // By a timer in any case: what lies in the sockets is read after the timers of a turn, just behind the answer.
  await sleep(Math.max(1, arrivedAtMs + atLeastMs - Date.now()));
}

/** Has the time noted at which each exchange and refresh was answered that won. */
export function noteAnswers(provider: Provider, answers: SentAnswers, work: UnitOfWork): void {
  provider.on('grant.success', (ctx) => {
    const { AuthorizationCode: code, RotatedRefreshToken: refreshToken } = ctx.oidc.entities;
    const consumed = refreshToken ?? code;
    if (consumed === undefined) return;
    work.whenKept(() => answers.noteWhenSent(ctx.res, consumed.kind, consumed.jti));
  });
}

/**
 * Whether a family ends now; oidc-provider asks when a code or refresh token comes again, from the right client and with the right
 * verifier, and when one is revoked. A replay ends the family (RFC 9700 §4.14.2). A request that was decided on before the winner's
 * answer left is no replay but one of several sent at once: it is refused, and the one that won keeps what it got. Revoking an
 * access token ends just that token.
 */
export function endsFamily(answers: SentAnswers, work: UnitOfWork) {
  return async (ctx: KoaContextWithOIDC): Promise<boolean> => {
    const { route, entities, client } = ctx.oidc;
    if (route === 'revocation') return entities.AccessToken === undefined;
    if (route !== 'token') return true;
    const token = await tokenOf(ctx);
    if (token === undefined || !(await lostRace(token, arrivals.get(ctx.req), answers))) return true;
    await work.record({
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
  token: { readonly kind: string; readonly jti: string },
  arrived: Arrival | undefined,
  answers: SentAnswers,
): Promise<boolean> {
  const consumed: unknown = Reflect.get(token, 'consumed');
  if (typeof consumed !== 'number' || arrived === undefined) return false;
  const verdict = judgeByTime(arrived, consumed * 1000);
  if (verdict !== 'ask') return verdict === 'race';
  return isRace(arrived, await answers.of(token.kind, token.jti));
}

/** The token that came again. */
async function tokenOf(ctx: KoaContextWithOIDC) {
  const { provider, entities, params } = ctx.oidc;
  const code = params?.code;
  if (entities.RefreshToken !== undefined) return entities.RefreshToken;
  if (typeof code !== 'string') return undefined;
  return provider.AuthorizationCode.find(code, { ignoreExpiration: true });
}
