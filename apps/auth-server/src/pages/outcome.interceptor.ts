import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';
import type { Page } from './page.js';

/** A cookie for all paths of this host, which scripts cannot read. */
export interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly secure: boolean;
  readonly maxAgeMs: number;
}

/** Result of a page's use case: a page, or a redirect. */
export type Outcome = Page | { readonly redirect: string; readonly cookie?: Cookie };

/** Sends the outcome of a page's use case. */
@Injectable()
export class OutcomeInterceptor implements NestInterceptor<Outcome, string> {
  intercept(context: ExecutionContext, next: CallHandler<Outcome>): Observable<string> {
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(map((outcome) => applyOutcome(outcome, response)));
  }
}

/** Sets the status and the headers. Returns the body. */
export function applyOutcome(outcome: Outcome, response: Response): string {
  if (!('redirect' in outcome)) {
    response.status(outcome.status).set(outcome.headers);
    return outcome.body;
  }
  const { redirect, cookie } = outcome;
  response.status(303).set('Cache-Control', 'no-store').location(redirect);
  if (cookie !== undefined) {
    const { name, value, secure, maxAgeMs: maxAge } = cookie;
    response.cookie(name, value, { path: '/', httpOnly: true, sameSite: 'lax', secure, maxAge });
  }
  return '';
}
