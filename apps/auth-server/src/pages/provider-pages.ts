import { Html, html } from '@fulfilment/http-service';
import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { isBrowserRoute, mountPath } from '../http/route-kind.rules.js';
import { messagePage } from './message.page.js';
import { formActionSource, type Page } from './page.js';

type RouteContext = Pick<KoaContextWithOIDC, 'path' | 'status' | 'body' | 'set' | 'type'> & {
  readonly oidc: Pick<KoaContextWithOIDC['oidc'], 'route'>;
};

/**
 * Responds to an error that cannot be redirected to the client: with a page for people, or JSON for clients
 * (RFC 6749 §5.2).
 */
export function sendError(ctx: RouteContext, out: ErrorOut): void {
  if (!isBrowserRoute(`${mountPath}${ctx.path}`)) {
    ctx.type = 'json';
    ctx.body = out;
    return;
  }
  sendPage(
    ctx,
    messagePage({
      ...problemText(ctx.oidc.route, out.error),
      code: out.error_description === undefined ? out.error : `${out.error}: ${out.error_description}`,
      status: ctx.status,
    }),
  );
}

/** What happened and what the person can do, by oidc-provider's route and the error code. */
function problemText(route: string, error: string): { readonly title: string; readonly text: string } {
  if (error === 'server_error') return { title: 'Something went wrong', text: 'Try again in a few minutes.' };
  if (route === 'resume' && error === 'invalid_request')
    return { title: 'This sign-in has expired', text: 'Go back to the app and start again.' };
  // The form was sent twice, or another page of this browser has replaced it.
  if (route === 'end_session_confirm' && error === 'invalid_request')
    return { title: 'This page has expired', text: 'Start the sign-out again.' };
  return {
    title: 'The app sent an invalid request',
    text: "Go back to the app and try again. If the problem persists, contact the app's developer.",
  };
}

/**
 * Sends the confirmation page of a sign-out, since a link alone must not sign out.
 * @param form safe markup of oidc-provider
 */
export function sendLogoutPage(ctx: KoaContextWithOIDC, form: string): void {
  const next = ctx.oidc.session?.state?.postLogoutRedirectUri;
  const target = typeof next === 'string' ? formActionSource(next) : undefined;
  sendPage(
    ctx,
    messagePage({
      title: 'Sign out?',
      text: 'Apps that have access while you are away stay connected.',
      status: 200,
      formActionSources: target === undefined ? [] : [target],
      more: html`${new Html(form)}
        <div class="actions">
          <button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out</button>
          <a class="button quiet" href="/account">Stay signed in</a>
        </div>`,
    }),
  );
}

interface AccountSwitch {
  /** URL that ends the session of the first account, and then continues the sign-in. */
  readonly action: string;
  readonly formToken: string;
  /** Redirect URI of the client, to which the sign-in may lead at once. */
  readonly redirectUri: string;
}

/** Sends the page for a person who signed in while another account was signed in. */
export function sendAccountSwitchPage(
  ctx: KoaContextWithOIDC,
  { action, formToken, redirectUri }: AccountSwitch,
): void {
  const target = formActionSource(redirectUri);
  sendPage(
    ctx,
    messagePage({
      title: 'Sign out of the other account?',
      text: 'Another account is signed in to this browser. Continue to sign it out, and to use the account that you have just signed in with.',
      status: 200,
      formActionSources: target === undefined ? [] : [target],
      more: html`<form method="post" action="${action}">
        <input type="hidden" name="xsrf" value="${formToken}" />
        <input type="hidden" name="logout" value="yes" />
        <div class="actions"><button type="submit">Continue</button></div>
      </form>`,
    }),
  );
}

export function sendLoggedOutPage(ctx: KoaContextWithOIDC): void {
  sendPage(ctx, messagePage({ title: 'Signed out', text: 'You can close this page.', status: 200 }));
}

export function sendPage(ctx: Pick<KoaContextWithOIDC, 'status' | 'body' | 'set'>, page: Page): void {
  ctx.status = page.status;
  ctx.set({ ...page.headers });
  ctx.body = page.body;
}
