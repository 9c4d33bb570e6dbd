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
    /** ECMAScript 2026, in Node since 22: text that is written into JSON as it is. TypeScript's library does not know it yet. */
    rawJSON(text: string): object;
  }
}

/**
 * Writes bigints into the answer digit by digit. A month's sum may be above 9007199254740991: a number of JavaScript would be
 * rounded on our side already, and nobody could tell.
 */
export function ExactIntegers(): MethodDecorator {
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
