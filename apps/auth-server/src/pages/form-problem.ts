import { type Html, html } from '@fulfilment/http-service';

/** Why a submitted form is shown once more. */
export interface FormProblem {
  readonly status: 401 | 429;
  readonly text: string;
  readonly retryAfterSeconds?: number;
}

/** A guess that was rejected unchecked. @param failures what happened too often, such as "failed sign-ins" */
export function lockedProblem(failures: string, waitSeconds: number): FormProblem {
  const minutes = Math.ceil(waitSeconds / 60);
  const text = `Too many ${failures}. Wait ${minutes} minute${minutes === 1 ? '' : 's'}, then try again.`;
  return { status: 429, text, retryAfterSeconds: waitSeconds };
}

/** The text at the top of a page; fields refer to it by its id. */
export function problemNotice(text: string): Html {
  return html`<p class="notice" role="alert" id="problem">${text}</p>`;
}
