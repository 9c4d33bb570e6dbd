import { html } from '@fulfilment/http-service';
import { accountPage, type AccountContext, currentPasswordField, type Notice } from './account.page.js';
import { csrfField } from '../form-tokens.js';
import type { Page } from '../page.js';
import { codeField, recoveryCodeList, type SecondFactorSetup, setupSteps } from '../second-factor-parts.js';

const title = 'Set up a second factor';

/** First step: the password. */
export function beginSecondFactorPage(account: AccountContext, notice?: Notice): Page {
  return accountPage({
    account,
    tab: 'security',
    title,
    notice,
    content: html`<p>You need an authenticator app on your phone. To begin, confirm your password.</p>
      <form method="post" action="/account/security/second-factor/begin">
        ${csrfField(account)} ${currentPasswordField(account, 'setup-current')}
        <div class="actions"><button type="submit">Continue</button></div>
      </form>
      <p><a href="/account/security">Not now</a></p>`,
  });
}

/** Page for the first code. `setup` is undefined after a wrong code, since a secret is shown once. */
export function confirmSecondFactorPage(
  account: AccountContext,
  { setup, notice }: { readonly setup?: SecondFactorSetup; readonly notice?: Notice },
): Page {
  return accountPage({
    account,
    tab: 'security',
    title,
    notice,
    content: html`${setup === undefined ? undefined : setupSteps(setup)}
      <form method="post" action="/account/security/second-factor">
        ${csrfField(account)} ${codeField({ isWrong: notice !== undefined, allowsRecoveryCode: false })}
        <div class="actions"><button type="submit">Turn on</button></div>
      </form>
      <p>
        <a href="/account/security/second-factor">Start over</a> · <a href="/account/security">Not now</a>
      </p>`,
  });
}

export function recoveryCodesPage(account: AccountContext, codes: readonly string[]): Page {
  return accountPage({
    account,
    tab: 'security',
    title: 'Your recovery codes',
    content: html`${recoveryCodeList(codes)}
      <p><a class="button narrow" href="/account/security">I have saved my codes</a></p>`,
  });
}
