import { type Html, html } from '@fulfilment/http-service';
import { brand, type Page, page } from './page.js';

/** The person of an account page, and the token of its forms. */
export interface AccountFrame {
  readonly email: string;
  readonly csrf: string;
}

export type AccountTab = 'overview' | 'apps' | 'browsers' | 'security';

/** The message about the last action, at the top of a page. */
export interface Notice {
  readonly kind: 'done' | 'problem';
  readonly text: string;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

const tabs = [
  ['overview', '/account', 'Overview'],
  ['apps', '/account/apps', 'Connected apps'],
  ['browsers', '/account/browsers', 'Browsers'],
  ['security', '/account/security', 'Security'],
] as const;

/** The frame of the account pages. */
export function accountPage(parts: {
  readonly frame: AccountFrame;
  readonly tab: AccountTab;
  readonly title: string;
  readonly content: Html;
  readonly notice?: Notice | undefined;
}): Page {
  const { frame, tab, title, content, notice } = parts;
  return page({
    title: `${title} · Your account`,
    status: notice?.status ?? 200,
    headers:
      notice?.retryAfterSeconds === undefined ? {} : { 'Retry-After': String(notice.retryAfterSeconds) },
    accountTop: html`<a class="skip" href="#content">Skip to the content</a>
      <header class="top">
        ${brand}
        <span class="soft small">${frame.email} · <a href="/api/auth/oauth2/end-session">Sign out</a></span>
      </header>
      <nav aria-label="Your account">
        <ul>
          ${tabs.map(
            ([name, href, label]) =>
              html`<li>
                <a href="${href}" ${name === tab ? html`aria-current="page"` : html``}>${label}</a>
              </li>`,
          )}
        </ul>
      </nav>`,
    content: html`<div id="content">
      <h1>${title}</h1>
      ${noticeOf(notice)} ${content}
    </div>`,
  });
}

function noticeOf(notice: Notice | undefined): Html | undefined {
  if (notice === undefined) return undefined;
  return notice.kind === 'done'
    ? html`<p class="notice good" role="status">${notice.text}</p>`
    : html`<p class="notice" role="alert" id="problem">${notice.text}</p>`;
}

export function csrfField({ csrf }: AccountFrame): Html {
  return html`<input type="hidden" name="csrf" value="${csrf}" />`;
}

/** Names the account for password managers. */
function usernameField({ email }: AccountFrame): Html {
  return html`<input type="text" name="username" autocomplete="username" value="${email}" hidden readonly />`;
}

/** The password field of changes that a signed-in browser alone must not allow. */
export function currentPasswordField(frame: AccountFrame, id: string): Html {
  return html`${usernameField(frame)}
    <div class="field">
      <label for="${id}">Current password</label>
      <input
        id="${id}"
        name="current_password"
        type="password"
        autocomplete="current-password"
        required
        maxlength="1024"
      />
    </div>`;
}

const dayFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const momentFormat = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
});

export function day(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${dayFormat.format(at)}</time>`;
}

export function moment(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${momentFormat.format(at)} UTC</time>`;
}
