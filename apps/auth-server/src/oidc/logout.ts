import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Families } from './families.js';

/**
 * Ends what lives only as long as a browser's session, before the browser is told that it is signed out. oidc-provider's own way
 * (tokens that expire with the session) tells introspection, but not the APIs.
 */
export function endTokensOfSession(families: Families) {
  return async (
    ctx: Partial<Pick<KoaContextWithOIDC, 'oidc'>>,
    next: () => Promise<unknown>,
  ): Promise<void> => {
    await next();
    if (ctx.oidc?.route !== 'end_session_confirm') return;
    const session = ctx.oidc.session;
    if (session !== undefined && Reflect.get(session, 'destroyed') === true)
      await families.endOfSession(session.uid);
  };
}
