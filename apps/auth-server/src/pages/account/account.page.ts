import { type Html, html } from '@fulfilment/http-service';
import { type FormProblem, problemNotice } from '../form-problem.js';
import { brand, type Page, page } from '../page.js';

/** The signed-in account that a page shows, and the CSRF token of the page's forms. */
export interface AccountContext {
  readonly email: string;
  readonly csrf: string;
}

/** The message about the last action, at the top of a page. Only a problem has a status. */
export type Notice = FormProblem | { readonly text: string; readonly status?: undefined };

const tabs = [
  ['overview', '/account', 'Overview'],
  ['apps', '/account/apps', 'Connected apps'],
  ['browsers', '/account/browsers', 'Browsers'],
  ['security', '/account/security', 'Security'],
] as const;

/** Builds an account page: header, navigation and notice around its content. */
export function accountPage(parts: {
  readonly account: AccountContext;
  readonly tab: (typeof tabs)[number][0];
  readonly title: string;
  readonly content: Html;
  readonly notice?: Notice | undefined;
}): Page {
  const { account, tab, title, content, notice } = parts;
  return page({
    title: `${title} · Your account`,
    problem: notice?.status === undefined ? undefined : notice,
    accountHeader: html`<a class="skip" href="#content">Skip to the content</a>
      <header class="top">
        ${brand}
        <span class="soft small">${account.email} · <a href="/api/auth/oauth2/end-session">Sign out</a></span>
      </header>
      <nav aria-label="Your account">
        <ul>
          ${tabs.map(
            ([name, href, label]) =>
              html`<li>
                <a href="${href}" ${name === tab ? html`aria-current="page"` : undefined}>${label}</a>
              </li>`,
          )}
        </ul>
      </nav>`,
    content: html`<div id="content">
      <h1>${title}</h1>
      ${notice && noticeOf(notice)} ${content}
    </div>`,
  });
}

function noticeOf(notice: Notice): Html | undefined {
  return notice.status === undefined
    ? html`<p class="notice good" role="status">${notice.text}</p>`
    : problemNotice(notice);
}

/** Names the account for password managers. */
function usernameField({ email }: AccountContext): Html {
  return html`<input type="text" name="username" autocomplete="username" value="${email}" hidden readonly />`;
}

/**
 * The password field of forms that a signed-in person must confirm with the password. Password fields have no
 * `maxlength`, because browsers would shorten a pasted password without a message.
 */
export function currentPasswordField(account: AccountContext, id: string): Html {
  return html`${usernameField(account)}
    <div class="field">
      <label for="${id}">Current password</label>
      <input id="${id}" name="current_password" type="password" autocomplete="current-password" required />
    </div>`;
}

const dateFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const dateTimeFormat = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
});

export function dateElement(date: Date): Html {
  return html`<time datetime="${date.toISOString()}">${dateFormat.format(date)}</time>`;
}

export function dateTimeElement(date: Date): Html {
  return html`<time datetime="${date.toISOString()}">${dateTimeFormat.format(date)} UTC</time>`;
}
