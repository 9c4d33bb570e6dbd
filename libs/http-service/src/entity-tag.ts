import {
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import type { Response } from 'express';
import { hash } from 'node:crypto';
import { map, type Observable } from 'rxjs';

/**
 * Adds an ETag, a hash of the response body, so that it differs by currency, format and caller as the body
 * does. If `If-None-Match` matches, Express responds with 304 (RFC 9110 §13.1.2) and the headers of the 200.
 * Shared caches store nothing; private caches revalidate each time.
 */
export function EntityTag(): MethodDecorator {
  return UseInterceptors(new EntityTagInterceptor());
}

class EntityTagInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<string> {
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(
      map((body) => {
        const text = JSON.stringify(body); // once, for the hash and for sending
        response.set({ ETag: `"${hashOf(text)}"`, 'Cache-Control': 'private, no-cache' }).type('json');
        return text;
      }),
    );
  }
}

/** 160 bits of SHA-256. */
function hashOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 27);
}
