import { type ErrorDetail, ValidationFailed } from '@fulfilment/error-envelope';
import {
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import type { ClassConstructor } from 'class-transformer';
import type { Request } from 'express';
import { catchError, type Observable } from 'rxjs';
import { addDetails } from './body-check.js';
import { convertAndValidate } from './dto.pipe.js';

/**
 * Adds the errors of the path to the 400 of a query or body, so that the client sees all errors at once: Nest
 * reports only those of one DTO.
 * @param path the DTO of the path
 */
export function WithPathErrors(path: ClassConstructor<object>): ClassDecorator & MethodDecorator {
  return UseInterceptors(new PathErrorsInterceptor(path));
}

class PathErrorsInterceptor implements NestInterceptor {
  constructor(private readonly path: ClassConstructor<object>) {}

  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const { params } = context.switchToHttp().getRequest<Request>();
    return next.handle().pipe(
      catchError((error: unknown) => {
        throw error instanceof ValidationFailed ? addDetails(error, this.errorsOf(params)) : error;
      }),
    );
  }

  private errorsOf(params: Request['params']): readonly ErrorDetail[] {
    try {
      convertAndValidate(this.path, params);
      return [];
    } catch (error) {
      if (error instanceof ValidationFailed) return error.details ?? [];
      throw error;
    }
  }
}
