import type { KoaContextWithOIDC } from 'oidc-provider';
import { originOf } from '../audit/audit-log.js';
import type { BrowserSessions } from './browser-sessions.js';

/** Middleware that stores the origin of each sign-in before the browser continues. */
export function recordSignIns(sessions: BrowserSessions) {
  return async (
    ctx: Partial<Pick<KoaContextWithOIDC, 'oidc'>> & Pick<KoaContextWithOIDC, 'ip' | 'headers'>,
    next: () => Promise<unknown>,
  ): Promise<void> => {
    await next();
    if (ctx.oidc?.route !== 'resume' || ctx.oidc.result?.login === undefined) return;
    const { session } = ctx.oidc;
    if (session?.accountId !== undefined && typeof session.exp === 'number')
      await sessions.record(session.uid, session.accountId, originOf(ctx), session.exp);
  };
}
