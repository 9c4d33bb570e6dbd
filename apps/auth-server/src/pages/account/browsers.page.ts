import { type Html, html } from '@fulfilment/http-service';
import { accountPage, type AccountContext, csrfField, dateTimeElement, type Notice } from './account.page.js';
import type { Page } from '../page.js';

export interface BrowserView {
  readonly uid: string;
  /** Browser and system, such as "Firefox on Linux". */
  readonly name: string;
  readonly ip: string;
  readonly signedInAt: Date;
  /** Whether it is the browser that shows the page. */
  readonly isCurrent: boolean;
}

export function browsersPage(
  account: AccountContext,
  browsers: readonly BrowserView[],
  notice?: Notice,
): Page {
  const others = browsers.filter(({ isCurrent }) => !isCurrent);
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
        ${browsers.map((browser) => browserItem(account, browser))}
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

function browserItem(account: AccountContext, browser: BrowserView): Html {
  return html`<li>
    <div class="about">
      <h2>${browser.name} ${browser.isCurrent ? html`<span class="tag">this browser</span>` : undefined}</h2>
      <p class="soft small">Signed in ${dateTimeElement(browser.signedInAt)} from ${browser.ip}</p>
    </div>
    ${
      browser.isCurrent
        ? undefined
        : html`<form method="post" action="/account/browsers/sign-out">
            ${csrfField(account)}
            <input type="hidden" name="session" value="${browser.uid}" />
            <button type="submit" class="small grave" aria-label="Sign out ${browser.name}">Sign out</button>
          </form>`
    }
  </li>`;
}
