import { type Html, html } from '@fulfilment/http-service';
import { minPasswordLength } from '../../accounts/new-password.rules.js';
import { accountPage, type AccountContext, currentPasswordField, type Notice } from './account.page.js';
import { csrfField } from '../form-tokens.js';
import type { Page } from '../page.js';
import { codeField } from '../second-factor-parts.js';

interface SecurityView {
  readonly hasSecondFactor: boolean;
  readonly recoveryCodesLeft: number;
  /** Whether the person's role requires a second factor. */
  readonly isSecondFactorRequired: boolean;
  /** Number of connected third-party apps. */
  readonly thirdPartyAppCount: number;
}

export function securityPage(account: AccountContext, view: SecurityView, notice?: Notice): Page {
  return accountPage({
    account,
    tab: 'security',
    title: 'Security',
    notice,
    content: html`<section aria-labelledby="password-title">
        <h2 id="password-title">Password</h2>
        <p class="soft">
          If you change your password, you are signed out of all other browsers and of our own apps.
        </p>
        <form method="post" action="/account/security/password">
          ${csrfField(account)} ${currentPasswordField(account, 'password-current')}
          <div class="field">
            <label for="new-password">New password</label>
            <input
              id="new-password"
              name="new_password"
              type="password"
              autocomplete="new-password"
              required
              minlength="${minPasswordLength}"
              aria-describedby="password-rule"
            />
            <span class="hint" id="password-rule"
              >At least ${minPasswordLength} characters. We recommend several random words.</span
            >
          </div>
          <div class="field">
            <label for="repeated">Repeat the new password</label>
            <input
              id="repeated"
              name="repeated_password"
              type="password"
              autocomplete="new-password"
              required
            />
          </div>
          ${view.thirdPartyAppCount === 0 ? undefined : disconnectAppsBox(view.thirdPartyAppCount)}
          <div class="actions"><button type="submit">Change password</button></div>
        </form>
      </section>
      <section aria-labelledby="factor-title">
        <h2 id="factor-title">
          Second factor ${view.hasSecondFactor ? html`<span class="tag">on</span>` : undefined}
        </h2>
        ${view.hasSecondFactor ? secondFactorForms(account, view) : setUpLink()}
      </section>`,
  });
}

function disconnectAppsBox(appCount: number): Html {
  return html`<label class="choice"
    ><input type="checkbox" name="disconnect_apps" value="yes" checked /><span
      >Also disconnect ${appCount === 1 ? 'the 1 connected app' : `all ${String(appCount)} connected apps`}<br /><span
        class="soft small"
        >Recommended if someone else may know your password. The apps lose access and their webhooks stop
        immediately. To use an app again, allow it again.</span
      ></span
    ></label
  >`;
}

function setUpLink(): Html {
  return html`<p class="soft">
      With a second factor, you sign in with your password and a code from an authenticator app on your phone.
      A guessed or stolen password alone is then not enough.
    </p>
    <p><a class="button narrow" href="/account/security/second-factor">Set up a second factor</a></p>`;
}

function secondFactorForms(account: AccountContext, view: SecurityView): Html {
  return html`<p class="soft">
      You sign in with your password and a code from your authenticator app. You have
      ${view.recoveryCodesLeft === 1 ? '1 recovery code' : `${String(view.recoveryCodesLeft)} recovery codes`}
      left.
    </p>
    <details>
      <summary>New recovery codes</summary>
      <form method="post" action="/account/security/recovery-codes">
        ${csrfField(account)}
        <p class="soft">New codes replace all your current recovery codes.</p>
        ${currentPasswordField(account, 'codes-current')}
        ${codeField({ isWrong: false, allowsRecoveryCode: true, id: 'codes-code' })}
        <div class="actions"><button type="submit">Create new codes</button></div>
      </form>
    </details>
    ${
      view.isSecondFactorRequired
        ? html`<p class="soft small">Your role requires a second factor, so you cannot turn it off.</p>`
        : html`<details>
            <summary>Turn off the second factor</summary>
            <form method="post" action="/account/security/second-factor/remove">
              ${csrfField(account)} ${currentPasswordField(account, 'remove-current')}
              ${codeField({ isWrong: false, allowsRecoveryCode: true, id: 'remove-code' })}
              <div class="actions">
                <button type="submit" class="grave">Turn off the second factor</button>
              </div>
            </form>
          </details>`
    }`;
}
