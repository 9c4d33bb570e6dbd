import { sendPlain } from '@fulfilment/http-service';
import type { Response } from 'express';
import type { Page } from './page.js';

/** What a browser gets: a page, or the way to another. */
export type Outcome = Page | { readonly redirect: string };

export function deliver(response: Response, outcome: Outcome): void {
  if ('redirect' in outcome) {
    response.set('Cache-Control', 'no-store').redirect(303, outcome.redirect);
    return;
  }
  sendPlain(response, outcome);
}
