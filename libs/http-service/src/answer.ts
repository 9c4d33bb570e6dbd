import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';

/** A body together with headers that belong to it, such as `Location`. Use cases return it; the status is the route's. */
export class Answer<Body> {
  constructor(
    readonly body: Body,
    readonly headers: Readonly<Record<string, string>>,
  ) {}
}

/** Sets an Answer's headers and sends its body. */
export class AnswerInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    return next.handle().pipe(
      map((result) => {
        if (!(result instanceof Answer)) return result;
        context.switchToHttp().getResponse<Response>().set(result.headers);
        const body: unknown = result.body;
        return body;
      }),
    );
  }
}
