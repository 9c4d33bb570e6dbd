import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';

/** A body with headers such as `Location`. Use cases return it; the route declares the status. */
export class ResponseWithHeaders<Body> {
  constructor(
    readonly body: Body,
    readonly headers: Readonly<Record<string, string>>,
  ) {}
}

/** Sets the headers of a ResponseWithHeaders and sends its body. */
@Injectable()
export class ResponseHeadersInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    return next.handle().pipe(
      map((result) => {
        if (!(result instanceof ResponseWithHeaders)) return result;
        context.switchToHttp().getResponse<Response>().set(result.headers);
        const body: unknown = result.body;
        return body;
      }),
    );
  }
}
