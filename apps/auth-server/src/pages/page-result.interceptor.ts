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
export type PageResult = Page | { readonly redirect: string; readonly cookie?: Cookie };

/** Sends the result of a page's use case. */
@Injectable()
export class PageResultInterceptor implements NestInterceptor<PageResult, string> {
  intercept(context: ExecutionContext, next: CallHandler<PageResult>): Observable<string> {
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(map((result) => applyPageResult(result, response)));
  }
}

/** Sets the status and the headers. Returns the body. */
export function applyPageResult(result: PageResult, response: Response): string {
  if (!('redirect' in result)) {
    response.status(result.status).set(result.headers);
    return result.body;
  }
  const { redirect, cookie } = result;
  response.status(303).set('Cache-Control', 'no-store').location(redirect);
  if (cookie !== undefined) {
    const { name, value, secure, maxAgeMs: maxAge } = cookie;
    response.cookie(name, value, { path: '/', httpOnly: true, sameSite: 'lax', secure, maxAge });
  }
  return '';
}
