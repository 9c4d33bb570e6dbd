import { type Html, html } from '@fulfilment/http-service';
import { accountPage, type AccountContext, dateTimeElement, type Notice } from './account.page.js';
import { csrfField } from '../form-tokens.js';
import { browserName } from '../../sessions/browser-name.js';
import type { BrowserSession } from '../../sessions/browser-sessions.js';
import type { Page } from '../page.js';

interface BrowsersView {
  readonly browsers: readonly BrowserSession[];
  /** Session of the browser that shows the page. */
  readonly currentUid: string;
}

export function browsersPage(
  account: AccountContext,
  { browsers, currentUid }: BrowsersView,
  notice?: Notice,
): Page {
  const others = browsers.filter(({ uid }) => uid !== currentUid);
  return accountPage({
    account,
    tab: 'browsers',
    title: 'Browsers',
    notice,
    content: html`<p class="soft">
        You are signed in with these browsers. If you do not recognise one, sign it out and change your
        password.
      </p>
      <ul class="items">
        ${browsers.map((browser) => browserItem(account, browser, browser.uid === currentUid))}
      </ul>
      ${
        others.length < 2
          ? undefined
          : html`<form method="post" action="/account/browsers/sign-out">
              ${csrfField(account)}
              <input type="hidden" name="session" value="others" />
              <div class="actions">
                <button type="submit" class="quiet">Sign out all other browsers</button>
              </div>
            </form>`
      }`,
  });
}

function browserItem(account: AccountContext, browser: BrowserSession, isCurrent: boolean): Html {
  const name = browserName(browser.user_agent);
  return html`<li>
    <div class="about">
      <h2>${name} ${isCurrent ? html`<span class="tag">this browser</span>` : undefined}</h2>
      <p class="soft small">Signed in ${dateTimeElement(browser.signed_in_at)} from ${browser.ip}</p>
    </div>
    ${
      isCurrent
        ? undefined
        : html`<form method="post" action="/account/browsers/sign-out">
            ${csrfField(account)}
            <input type="hidden" name="session" value="${browser.uid}" />
            <button type="submit" class="small grave" aria-label="Sign out ${name}">Sign out</button>
          </form>`
    }
  </li>`;
}
