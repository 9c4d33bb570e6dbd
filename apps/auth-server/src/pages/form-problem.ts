import { type Html, html } from '@fulfilment/http-service';

/** Why a submitted form is shown once more. */
export interface FormProblem {
  readonly status: number;
  readonly text: string;
  readonly retryAfterSeconds?: number;
}

/**
 * Returns the problem of a guess that was rejected without verification.
 * @param failures what happened too often, for example "failed sign-ins"
 */
export function lockedProblem(failures: string, waitSeconds: number): FormProblem {
  const minutes = Math.ceil(waitSeconds / 60);
  const text = `Too many ${failures}. Wait ${minutes} minute${minutes === 1 ? '' : 's'}, then try again.`;
  return { status: 429, text, retryAfterSeconds: waitSeconds };
}

/** The notice at the top of a page; fields refer to it by its id. */
export function problemNotice(problem: FormProblem | undefined): Html | undefined {
  return problem && html`<p class="notice" role="alert" id="problem">${problem.text}</p>`;
}
