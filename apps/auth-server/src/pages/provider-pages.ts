import { Html, html } from '@fulfilment/http-service';
import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { messagePage } from './message.page.js';
import { formTarget, type Page } from './page.js';

/** oidc-provider's names of the routes that people open in a browser; programs call all others. */
const browserRoutes = new Set([
  'authorization',
  'resume',
  'end_session',
  'end_session_confirm',
  'end_session_success',
]);

/**
 * Response to an error that cannot be redirected to the client: a page for people, JSON for programs (RFC
 * 6749 §5.2).
 */
export function problemPage(ctx: KoaContextWithOIDC, out: ErrorOut): void {
  if (!browserRoutes.has(ctx.oidc.route)) {
    ctx.type = 'json';
    ctx.body = out;
    return;
  }
  const expired = ctx.oidc.route === 'resume' && out.error === 'invalid_request';
  sendPage(
    ctx,
    messagePage({
      title: expired ? 'This sign-in has expired' : 'The app sent an invalid request',
      text: expired
        ? 'Go back to the app and start again.'
        : "Go back to the app and try again. If the problem persists, contact the app's developer.",
      code: out.error_description === undefined ? out.error : `${out.error}: ${out.error_description}`,
      status: ctx.status,
    }),
  );
}

/**
 * Confirmation page of a sign-out, since a link alone must not sign out.
 * @param form safe markup of oidc-provider
 */
export function logoutPage(ctx: KoaContextWithOIDC, form: string): void {
  const next = ctx.oidc.session?.state?.postLogoutRedirectUri;
  const target = typeof next === 'string' ? formTarget(next) : undefined;
  sendPage(
    ctx,
    messagePage({
      title: 'Sign out?',
      text: 'Apps that have access while you are away stay connected. To stay signed in, close this page.',
      status: 200,
      formTargets: target === undefined ? [] : [target],
      more: html`${new Html(form)}
        <div class="actions">
          <button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out</button>
          <button type="submit" form="op.logoutForm" class="quiet">Stay signed in</button>
        </div>`,
    }),
  );
}

export function loggedOutPage(ctx: KoaContextWithOIDC): void {
  sendPage(ctx, messagePage({ title: 'Signed out', text: 'You can close this page.', status: 200 }));
}

export function sendPage(ctx: Pick<KoaContextWithOIDC, 'status' | 'body' | 'set'>, page: Page): void {
  ctx.status = page.status;
  ctx.set({ ...page.headers });
  ctx.body = page.body;
}
