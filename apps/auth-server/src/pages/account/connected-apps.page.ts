import { identityScopes, storeScopes } from '@fulfilment/contracts';
import { type Html, html } from '@fulfilment/http-service';
import type { ConnectedApp } from '../../connected-apps/read-connected-apps.js';
import { accountPage, type AccountContext, dateElement, type Notice } from './account.page.js';
import { csrfField } from '../form-tokens.js';
import type { Page } from '../page.js';

const scopeDescriptions = Object.entries({ ...identityScopes, ...storeScopes });

export function connectedAppsPage(
  account: AccountContext,
  apps: readonly ConnectedApp[],
  notice?: Notice,
): Page {
  return accountPage({
    account,
    tab: 'apps',
    title: 'Connected apps',
    notice,
    content: html`<p class="soft">
        These apps may access your account, even while you are not using them. When you disconnect an app, it
        loses access immediately. To reconnect it, sign in with the app again.
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

function appItem(account: AccountContext, app: ConnectedApp): Html {
  const name = app.name ?? 'Unnamed app';
  const permissions = scopeDescriptions.filter(([scope]) => app.scopes.includes(scope));
  return html`<li>
    <div class="about">
      <h2>${name} ${app.first_party ? html`<span class="tag">by us</span>` : undefined}</h2>
      <p class="soft small">
        ${app.creator_names.length === 0 ? undefined : html`For ${app.creator_names.join(', ')} · `}since
        ${dateElement(app.connected_at)}
      </p>
      ${
        permissions.length === 0
          ? undefined
          : html`<details>
              <summary class="small">Permissions</summary>
              <ul class="small">
                ${permissions.map(([, text]) => html`<li>${text}</li>`)}
              </ul>
            </details>`
      }
    </div>
    <form method="post" action="/account/apps/disconnect">
      ${csrfField(account)}
      <input type="hidden" name="client_id" value="${app.client_id}" />
      <button type="submit" class="small grave" aria-label="Disconnect ${name}">Disconnect</button>
    </form>
  </li>`;
}
