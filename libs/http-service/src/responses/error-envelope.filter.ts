import { toErrorResponse } from '@fulfilment/error-envelope';
import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import { omitsRetryAfter } from '../idempotency/retry-only-with-key.js';

/** Sends the error response of a thrown value. Closes the connection if another response has begun. */
@Catch()
export class ErrorEnvelopeFilter implements ExceptionFilter {
  private readonly report: (thrown: unknown) => void;

  /** @param report called with each thrown value whose status is 500 or more */
  constructor(report: (thrown: unknown) => void) {
    this.report = report;
  }

  catch(thrown: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const { status, headers, body } = toErrorResponse(thrown);
    if (status >= 500) this.report(thrown);
    if (response.headersSent) {
      response.destroy(); // so that the client does not take what was sent for the whole response
      return;
    }
    response.set(headers);
    if (omitsRetryAfter(response)) response.removeHeader('Retry-After');
    response.status(status).json(body);
  }
}
