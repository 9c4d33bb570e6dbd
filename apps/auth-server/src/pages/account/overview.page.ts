import { html } from '@fulfilment/http-service';
import { accountPage, type AccountContext, type Notice } from './account.page.js';
import { csrfField } from '../form-tokens.js';
import type { Page } from '../page.js';

interface OverviewView {
  readonly name: string | null;
  /** Description of the organisation and the role; undefined without an organisation. */
  readonly actsFor: string | undefined;
  readonly creators: readonly string[];
  readonly appCount: number;
  readonly browserCount: number;
  readonly hasSecondFactor: boolean;
}

export function overviewPage(account: AccountContext, view: OverviewView, notice?: Notice): Page {
  return accountPage({
    account,
    tab: 'overview',
    notice,
    title: view.name === null ? 'Your account' : `Hello, ${view.name}`,
    content: html`<dl>
        <dt>E-mail address</dt>
        <dd>${account.email}</dd>
        <dt>You act for</dt>
        <dd>${view.actsFor ?? 'no organisation yet'}</dd>
        ${
          view.creators.length === 0
            ? undefined
            : html`<dt>Creators</dt>
                <dd>${view.creators.join(', ')}</dd>`
        }
        <dt>Connected apps</dt>
        <dd><a href="/account/apps">${formatCount(view.appCount, 'app', 'apps')}</a></dd>
        <dt>Signed in</dt>
        <dd><a href="/account/browsers">in ${formatCount(view.browserCount, 'browser', 'browsers')}</a></dd>
        <dt>Second factor</dt>
        <dd><a href="/account/security">${view.hasSecondFactor ? 'on' : 'off'}</a></dd>
      </dl>
      <form method="post" action="/account/name">
        ${csrfField(account)}
        <div class="field">
          <label for="name">Your name</label>
          <input
            id="name"
            name="name"
            type="text"
            autocomplete="name"
            maxlength="200"
            value="${view.name ?? ''}"
            aria-describedby="name-use"
          />
          <span class="hint" id="name-use">Visible to apps that you allow to see your profile.</span>
        </div>
        <div class="actions"><button type="submit">Save</button></div>
      </form>`,
  });
}

function formatCount(count: number, one: string, many: string): string {
  return `${count === 0 ? 'no' : String(count)} ${count === 1 ? one : many}`;
}
