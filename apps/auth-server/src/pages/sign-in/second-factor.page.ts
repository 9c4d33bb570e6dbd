import { type Html, html } from '@fulfilment/http-service';
import { type FormProblem, problemNotice } from '../form-problem.js';
import { csrfField } from '../form-tokens.js';
import { type Page, page } from '../page.js';
import { codeField, recoveryCodeList, type SecondFactorSetup, setupSteps } from '../second-factor-parts.js';
import type { InteractionContext } from './interaction-context.js';

/** The second step of a sign-in. */
interface SecondFactorView extends InteractionContext {
  readonly problem?: FormProblem | undefined;
}

/** Page with the form for the code. */
export function secondFactorPage(view: SecondFactorView): Page {
  return stepPage(view, {
    title: 'Enter your code',
    content: html`<p class="soft">to continue to <strong>${view.appName}</strong></p>
      ${problemNotice(view.problem)}
      <form method="post" action="/interaction/${view.uid}/second-factor">
        ${csrfField(view)}
        <p>Enter the six-digit code from your authenticator app, or one of your recovery codes.</p>
        ${codeField({ isWrong: view.problem !== undefined, allowsRecoveryCode: true })}
        <div class="actions"><button type="submit">Continue</button></div>
      </form>
      ${startOver(view)}`,
  });
}

/**
 * Set-up of a required second factor during a sign-in.
 * @param setup undefined after a wrong code, since a secret is shown once
 */
export function requiredSetupPage(view: SecondFactorView, setup: SecondFactorSetup | undefined): Page {
  return stepPage(view, {
    title: 'Set up a second factor',
    content: html`<p class="soft">Your role requires a second factor: a code from an authenticator app.</p>
      ${problemNotice(view.problem)} ${setup === undefined ? undefined : setupSteps(setup)}
      <form method="post" action="/interaction/${view.uid}/second-factor/setup">
        ${csrfField(view)} ${codeField({ isWrong: view.problem !== undefined, allowsRecoveryCode: false })}
        <div class="actions"><button type="submit">Turn on</button></div>
      </form>
      ${startOver(view)}`,
  });
}

/** Shows the recovery codes before the sign-in continues. */
export function setupRecoveryCodesPage(view: SecondFactorView, codes: readonly string[]): Page {
  return stepPage(view, {
    title: 'Your recovery codes',
    content: html`${recoveryCodeList(codes)}
      <form method="post" action="/interaction/${view.uid}/second-factor/done">
        ${csrfField(view)}
        <div class="actions"><button type="submit">I have saved my codes</button></div>
      </form>`,
  });
}

function stepPage(
  { formActionSources, problem }: SecondFactorView,
  { title, content }: { readonly title: string; readonly content: Html },
): Page {
  return page({
    title,
    problem,
    formActionSources,
    content: html`<h1>${title}</h1>
      ${content}`,
  });
}

function startOver({ uid, csrf }: SecondFactorView): Html {
  return html`<form method="post" action="/interaction/${uid}/start-over">
    ${csrfField({ csrf })}
    <div class="actions"><button type="submit" class="quiet">Use another account</button></div>
  </form>`;
}
