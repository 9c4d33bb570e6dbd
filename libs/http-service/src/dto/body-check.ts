import { type ErrorDetail, ValidationFailed } from '@fulfilment/error-envelope';
import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import { catchError, type Observable } from 'rxjs';

/** A check of a body that needs a Nest provider, so a DTO cannot make it. */
export interface BodyCheck {
  /** Returns the errors of the members that it checks, independent of the other members. */
  problemsOf(body: object): Promise<readonly ErrorDetail[]>;
}

/**
 * Adds the errors of a check to the 400 of a body that the DTO rejects, so that the client sees all errors at
 * once. For a valid body, the use case makes the check.
 */
export function BodyCheckedBy(check: Type<BodyCheck>): MethodDecorator {
  @Injectable()
  class BodyCheckInterceptor implements NestInterceptor {
    constructor(@Inject(check) private readonly check: BodyCheck) {}

    intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
      const { body } = context.switchToHttp().getRequest<{ readonly body?: unknown }>();
      return next.handle().pipe(catchError((error: unknown) => this.fail(error, body)));
    }

    private async fail(error: unknown, body: unknown): Promise<never> {
      if (!(error instanceof ValidationFailed) || typeof body !== 'object' || body === null) throw error;
      throw addDetails(error, await this.check.problemsOf(body));
    }
  }
  return UseInterceptors(BodyCheckInterceptor);
}

/** Returns the error with further details, except those of a member that already has one. */
export function addDetails(error: ValidationFailed, problems: readonly ErrorDetail[]): ValidationFailed {
  const details = error.details ?? [];
  const rejected = new Set(details.map(({ field }) => memberOf(field)));
  const further = problems.filter(({ field }) => !rejected.has(memberOf(field)));
  return further.length === 0 ? error : new ValidationFailed([...details, ...further]);
}

/** Returns the member of the DTO that the path of an error begins with: `events` for `events.0`. */
function memberOf(field: string): string {
  return field.split('.', 1)[0] ?? field;
}
