import { sendPlain } from '@fulfilment/http-service';
import type { Response } from 'express';
import type { Page } from './page.js';

/** Result of a page's use case: a page, or a redirect. */
export type Outcome = Page | { readonly redirect: string };

/** Sends a page, or redirects with 303 See Other. */
export function sendOutcome(response: Response, outcome: Outcome): void {
  if ('redirect' in outcome) {
    response.set('Cache-Control', 'no-store').redirect(303, outcome.redirect);
    return;
  }
  sendPlain(response, outcome);
}
