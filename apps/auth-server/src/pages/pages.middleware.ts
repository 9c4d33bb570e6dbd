import { RateLimited } from '@fulfilment/error-envelope';
import { type RateLimiter, sendRendered } from '@fulfilment/http-service';
import type { NestExpressApplication } from '@nestjs/platform-express';
import express, { type NextFunction, type Request, type Response } from 'express';
import { type AuthQuota, takeFromQuota } from '../http/quotas.js';
import { decodesToStorableText } from '../http/storable-text.js';
import { messagePage, tooManyRequestsPage } from './message.page.js';

// Limits of the form parser. A change of password has three fields of 1024 characters, and a percent-encoded
// character takes up to 12 bytes.
const maxFormBytes = 40 * 1024;
const maxFormFields = 20;

/** Adds the middleware of the pages: the quota, and the form parser. */
export function usePageMiddleware(app: NestExpressApplication, limiter: RateLimiter<AuthQuota>): void {
  for (const path of ['/interaction', '/account']) {
    app.use(path, (request: Request, response: Response, next: NextFunction) => {
      takeFromQuota(limiter, 'authorization', request).then(
        () => next(),
        (error: unknown) => {
          if (error instanceof RateLimited) sendRendered(response, tooManyRequestsPage(error));
          else next(error);
        },
      );
    });
    app.use(
      path,
      express.urlencoded({
        extended: false,
        limit: maxFormBytes,
        parameterLimit: maxFormFields,
        // On the sign-in form, unstorable text is no error: it matches no e-mail address or password.
        ...(path === '/account' ? { verify: rejectUnstorableText } : {}),
      }),
      showBadForm,
    );
  }
}

/** @throws Error that the form parser reports as an error of the request */
function rejectUnstorableText(_request: unknown, _response: unknown, form: Buffer): void {
  if (!decodesToStorableText(form)) throw new TypeError('The form contains text that cannot be stored.');
}

/**
 * Shows a page for a form that is too large, has too many fields, is incomplete or has invalid text. Express
 * recognises an error handler by its four parameters.
 */
function showBadForm(error: unknown, _request: Request, response: Response, next: NextFunction): void {
  if (!isClientError(error)) return next(error);
  const text =
    'The form was too large or incomplete, or contained invalid characters. Go back and try again.';
  sendRendered(response, messagePage({ title: 'The form was not accepted', text, status: 400 }));
}

/** Whether the form parser reports an error of the request: its errors have a status. */
function isClientError(error: unknown): boolean {
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500;
  return status >= 400 && status < 500;
}
