import type { KoaContextWithOIDC } from 'oidc-provider';
import { sendAccountSwitchPage, sendLoggedOutPage } from '../../pages/provider-pages.js';

/**
 * Replaces oidc-provider's own pages for a sign-out without a session and for a sign-in with a second
 * account, which submit a form by a script and have no security headers.
 */
export async function replaceScriptPages(
  ctx: KoaContextWithOIDC,
  next: () => Promise<unknown>,
): Promise<void> {
  await next();
  // Undefined for a path that oidc-provider has no route for.
  const { oidc }: Partial<Pick<KoaContextWithOIDC, 'oidc'>> = ctx;
  if (oidc === undefined || ctx.status !== 200) return;
  if (oidc.route === 'end_session' && oidc.session?.accountId === undefined) completeSignOut(ctx);
  else if (oidc.route === 'resume') askToSwitchAccounts(ctx); // all its other responses are redirects
}

/** There is nothing to confirm, because the browser is not signed in. */
function completeSignOut(ctx: KoaContextWithOIDC): void {
  const uri = postLogoutRedirect(ctx.oidc.params ?? {});
  if (uri === undefined) {
    sendLoggedOutPage(ctx);
    return;
  }
  ctx.status = 303;
  ctx.redirect(uri);
}

/** oidc-provider has checked that the client registered the URI, and removes it if no client is named. */
function postLogoutRedirect(params: Readonly<Record<string, unknown>>): string | undefined {
  const { post_logout_redirect_uri: uri, state } = params;
  if (typeof uri !== 'string') return undefined;
  const redirect = new URL(uri);
  if (typeof state === 'string') redirect.searchParams.set('state', state);
  return redirect.href;
}

function askToSwitchAccounts(ctx: KoaContextWithOIDC): void {
  const { oidc } = ctx;
  sendAccountSwitchPage(ctx, {
    action: oidc.urlFor('end_session_confirm'),
    formToken: String(oidc.session?.state?.['secret']),
    redirectUri: String(oidc.entities.Interaction?.params['redirect_uri']),
  });
}
