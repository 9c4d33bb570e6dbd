import { type Html, html } from '@fulfilment/http-service';
import type { VisibleCreator } from '../../users/read-accounts.js';
import { suiteName } from '../../registration/reserved-names.rules.js';
import { csrfField } from '../form-tokens.js';
import { type Page, page } from '../page.js';
import type { InteractionContext } from './interaction-context.js';

interface ConsentView extends InteractionContext {
  /** Whether the operator created the client; all other clients registered themselves. */
  readonly verified: boolean;
  /** Description of where the person is sent. */
  readonly destination: string;
  readonly email: string;
  /** Descriptions of the scopes, in the order in which they are shown. */
  readonly permissions: readonly string[];
  readonly creators: readonly VisibleCreator[];
}

const tick = html`<svg viewBox="0 0 16 16" aria-hidden="true">
  <path
    d="M2.5 8.5l3.5 3.5 7.5-8"
    fill="none"
    stroke="currentColor"
    stroke-width="2"
    stroke-linecap="round"
    stroke-linejoin="round"
  />
</svg>`;
/** More creators are shown as a drop-down list, so that the page stays short. */
const maxRadioButtons = 8;

export function consentPage(view: ConsentView): Page {
  return page({
    title: `Allow ${view.appName}?`,
    formActionSources: view.formActionSources,
    content: html`<h1>Allow <strong>${view.appName}</strong> (${view.destination})?</h1>
      ${view.verified ? undefined : html`<p class="notice">Unverified app: ${suiteName} has not checked who runs it.</p>`}
      <p class="soft">Signed in as ${view.email}</p>
      <form method="post" action="/interaction/${view.uid}/consent">
        ${csrfField({ csrf: view.consentCsrf })}
        <h2 id="permissions">The app will be able to</h2>
        <ul class="scopes" aria-labelledby="permissions">
          ${view.permissions.map((text) => html`<li>${tick}<span>${text}</span></li>`)}
        </ul>
        ${creatorPicker(view.creators)}
        <div class="actions"><button type="submit">Allow</button></div>
      </form>
      <form method="post" action="/interaction/${view.uid}/abort">
        ${csrfField(view)}
        <div class="actions"><button type="submit" class="quiet">Don’t allow</button></div>
      </form>
      <p class="soft small">
        If you continue, you will be redirected to ${view.destination}. Only allow apps that you trust.
      </p>`,
  });
}

function creatorPicker(creators: readonly VisibleCreator[]): Html | undefined {
  const [only] = creators;
  if (only === undefined) return undefined;
  if (creators.length === 1) {
    return html`<h2>For</h2>
      <p>${only.name}<input type="hidden" name="creator" value="${only.id}" /></p>`;
  }
  if (creators.length > maxRadioButtons) {
    return html`<div class="field">
      <h2><label for="creator">For which creator?</label></h2>
      <select id="creator" name="creator">
        ${creators.map(
          ({ id, name, organisation_name: organisation }) =>
            html`<option value="${id}">${name} (${organisation})</option>`,
        )}
      </select>
    </div>`;
  }
  return html`<fieldset>
    <legend>For which creator?</legend>
    ${creators.map(
      (creator, index) =>
        html`<label class="choice"
          ><input
            type="radio"
            name="creator"
            value="${creator.id}"
            required
            ${index === 0 ? html`checked` : undefined}
          /><span
            >${creator.name}<br /><span class="soft small">${creator.organisation_name}</span></span
          ></label
        >`,
    )}
  </fieldset>`;
}
