import type { KoaContextWithOIDC } from 'oidc-provider';
import { endSession } from '../sessions/end-sessions.js';
import type { UnitOfWork } from '../tokens/unit-of-work.js';

/**
 * Ends what lives only as long as a browser's session, before the browser is told that it is signed out, and sees to it that no request
 * under way brings the session back. oidc-provider's own way (tokens that expire with the session) tells introspection, but not the APIs.
 */
export function endTokensOfSession(work: UnitOfWork) {
  return async (
    ctx: Partial<Pick<KoaContextWithOIDC, 'oidc'>>,
    next: () => Promise<unknown>,
  ): Promise<void> => {
    await next();
    if (ctx.oidc?.route !== 'end_session_confirm') return;
    const session = ctx.oidc.session;
    const userId = session?.accountId;
    if (session === undefined || userId === undefined || Reflect.get(session, 'destroyed') !== true) return;
    await work.revoking((tx) => endSession(tx, userId, session.uid));
  };
}
