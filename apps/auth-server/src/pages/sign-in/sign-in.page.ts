import { html } from '@fulfilment/http-service';
import { type FormProblem, problemNotice } from '../form-problem.js';
import { csrfField } from '../form-tokens.js';
import { type Page, page } from '../page.js';
import type { InteractionContext } from './interaction-context.js';

interface SignInView extends InteractionContext {
  readonly email: string;
  readonly problem?: FormProblem;
}

export function signInPage({ uid, csrf, appName, email, formActionSources, problem }: SignInView): Page {
  const invalid = problem === undefined ? 'false' : 'true';
  return page({
    title: 'Sign in',
    problem,
    formActionSources,
    content: html`<h1>Sign in</h1>
      <p class="soft">to continue to <strong>${appName}</strong></p>
      ${problemNotice(problem)}
      <form method="post" action="/interaction/${uid}/login">
        ${csrfField({ csrf })}
        <div class="field">
          <label for="email">E-mail address</label>
          <input
            id="email"
            name="email"
            type="email"
            autocomplete="username"
            required
            maxlength="254"
            value="${email}"
            aria-invalid="${invalid}"
            ${problem && html`aria-describedby="problem"`}
            ${email === '' ? html`autofocus` : undefined}
          />
        </div>
        <div class="field">
          <label for="password">Password</label>
          <input
            id="password"
            name="password"
            type="password"
            autocomplete="current-password"
            required
            aria-invalid="${invalid}"
            ${email === '' ? undefined : html`autofocus`}
          />
        </div>
        <div class="actions"><button type="submit">Sign in</button></div>
      </form>
      <form method="post" action="/interaction/${uid}/abort">
        ${csrfField({ csrf })}
        <div class="actions"><button type="submit" class="quiet">Cancel</button></div>
      </form>`,
  });
}
