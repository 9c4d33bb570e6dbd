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
 * Names what a GET answers by its bytes: currency, format and whoever asks are told apart by what they are shown. Express answers 304 where
 * `If-None-Match` has the name (RFC 9110 §13.1.2), with the headers that 200 would have. Caches of others keep nothing, one's own asks each time.
 */
export function EntityTag(): MethodDecorator {
  return UseInterceptors(new EntityTagInterceptor());
}

class EntityTagInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<string> {
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(
      map((body) => {
        const text = JSON.stringify(body); // once, for its name and to be sent
        response.set({ ETag: `"${nameOf(text)}"`, 'Cache-Control': 'private, no-cache' }).type('json');
        return text;
      }),
    );
  }
}

/** 160 bits of SHA-256. */
function nameOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 27);
}
