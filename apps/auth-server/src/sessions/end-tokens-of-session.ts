import type { KoaContextWithOIDC } from 'oidc-provider';
import { endSessions } from './end-sessions.js';
import type { UnitOfWork } from '../tokens/unit-of-work/unit-of-work.js';

/**
 * Ends the tokens that depend on a browser session before the browser gets the sign-out page, and prevents a
 * request in progress from saving the session again. oidc-provider would only treat these tokens as inactive
 * at introspection (`expiresWithSession`); the APIs would still accept them.
 */
export function endTokensOfSession(unitOfWork: UnitOfWork) {
  return async (
    ctx: Partial<Pick<KoaContextWithOIDC, 'oidc'>>,
    next: () => Promise<unknown>,
  ): Promise<void> => {
    await next();
    if (ctx.oidc?.route !== 'end_session_confirm') return;
    const session = ctx.oidc.session;
    const userId = session?.accountId;
    if (session === undefined || userId === undefined || session.destroyed !== true) return;
    await unitOfWork.runRevocation((tx) => endSessions(tx, userId, [session.uid]));
  };
}
