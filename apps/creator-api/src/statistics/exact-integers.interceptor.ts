import {
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';

declare global {
  interface JSON {
    /** Writes text into JSON unchanged (ECMAScript 2026). TypeScript's library does not declare it yet. */
    rawJSON(text: string): object;
  }
}

/**
 * Writes bigints exactly into the JSON response. A month's sum may exceed 9007199254740991, above which a
 * JavaScript number would be rounded silently.
 */
export function ExactIntegers(): ClassDecorator & MethodDecorator {
  return UseInterceptors(new ExactIntegersInterceptor());
}

class ExactIntegersInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<string> {
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(
      map((body) => {
        response.type('json');
        return JSON.stringify(body, (_name, value: unknown) =>
          typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value,
        );
      }),
    );
  }
}
