import { DependencyUnavailable, Forbidden, ServiceUnavailable } from '@fulfilment/error-envelope';
import { type Logger, LOGGER } from '@fulfilment/runtime';
import { type ArgumentsHost, Catch, type ExceptionFilter, Inject } from '@nestjs/common';
import type { Response } from 'express';
import { messagePage, unavailablePage } from './message.page.js';
import { applyPageResult } from './page-result.interceptor.js';
import { InteractionExpired, SignInNeeded } from './page-errors.js';
import type { Page } from './page.js';

/** Shows errors of pages as pages. */
@Catch()
export class ProblemPageFilter implements ExceptionFilter {
  constructor(@Inject(LOGGER) private readonly logger: Logger) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const shown = thrown instanceof SignInNeeded ? { redirect: thrown.signInUrl } : problemOf(thrown);
    if ('status' in shown && shown.status >= 500)
      this.logger.error({ error: thrown }, 'A page could not be shown.');
    response.send(applyPageResult(shown, response));
  }
}

function problemOf(thrown: unknown): Page {
  if (thrown instanceof InteractionExpired) {
    return messagePage({
      title: 'This sign-in has expired',
      text: 'The sign-in is already complete, took too long, or was started in another browser. Go back to the app and start again.',
      status: 400,
    });
  }
  if (thrown instanceof Forbidden) {
    return messagePage({
      title: 'The form was not accepted',
      text: 'It was sent from another site, or the page was out of date. Go back, reload the page and try again.',
      status: 403,
    });
  }
  if (thrown instanceof ServiceUnavailable || thrown instanceof DependencyUnavailable)
    return unavailablePage();
  return messagePage({
    title: 'Something went wrong',
    text: 'An unexpected error occurred on our server. Please try again.',
    status: 500,
  });
}
