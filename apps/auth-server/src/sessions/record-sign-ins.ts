import type { KoaContextWithOIDC } from 'oidc-provider';
import { originOf } from '../audit/audit-log.js';
import type { BrowserSessions } from './browser-sessions.js';

/**
 * Middleware that stores the origin of a sign-in after oidc-provider has resumed the authorization with it
 * (route `resume`). Koa sends the response only then.
 */
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
