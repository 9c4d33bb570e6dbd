import { sendPlain } from '@fulfilment/http-service';
import type { Response } from 'express';
import type { Page } from './page.js';

/** Result of a page's use case: a page, or a redirect. */
export type Outcome = Page | { readonly redirect: string };

export function deliver(response: Response, outcome: Outcome): void {
  if ('redirect' in outcome) {
    response.set('Cache-Control', 'no-store').redirect(303, outcome.redirect);
    return;
  }
  sendPlain(response, outcome);
}
