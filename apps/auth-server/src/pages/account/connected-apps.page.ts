import { type Html, html } from '@fulfilment/http-service';
import { accountPage, type AccountContext, csrfField, dateElement, type Notice } from './account.page.js';
import type { Page } from '../page.js';

export interface ConnectedAppView {
  readonly clientId: string;
  readonly name: string;
  /** First-party apps are connected by signing in, without consent. */
  readonly firstParty: boolean;
  readonly creatorNames: readonly string[];
  /** Descriptions of the scopes. */
  readonly permissions: readonly string[];
  readonly connectedAt: Date;
}

export function connectedAppsPage(
  account: AccountContext,
  apps: readonly ConnectedAppView[],
  notice?: Notice,
): Page {
  return accountPage({
    account,
    tab: 'apps',
    title: 'Connected apps',
    notice,
    content: html`<p class="soft">
        These apps have access to your account, even while you are not using them. When you disconnect an app,
        it loses access immediately. To reconnect it, sign in with the app again.
      </p>
      ${
        apps.length === 0
          ? html`<p class="empty">No connected apps.</p>`
          : html`<ul class="items">
              ${apps.map((app) => appItem(account, app))}
            </ul>`
      }`,
  });
}

function appItem(account: AccountContext, app: ConnectedAppView): Html {
  return html`<li>
    <div class="about">
      <h2>${app.name} ${app.firstParty ? html`<span class="tag">by us</span>` : undefined}</h2>
      <p class="soft small">
        ${app.creatorNames.length === 0 ? undefined : html`For ${app.creatorNames.join(', ')} · `}since
        ${dateElement(app.connectedAt)}
      </p>
      ${
        app.permissions.length === 0
          ? undefined
          : html`<details>
              <summary class="small">Permissions</summary>
              <ul class="small">
                ${app.permissions.map((text) => html`<li>${text}</li>`)}
              </ul>
            </details>`
      }
    </div>
    <form method="post" action="/account/apps/disconnect">
      ${csrfField(account)}
      <input type="hidden" name="client_id" value="${app.clientId}" />
      <button type="submit" class="small grave" aria-label="Disconnect ${app.name}">Disconnect</button>
    </form>
  </li>`;
}
