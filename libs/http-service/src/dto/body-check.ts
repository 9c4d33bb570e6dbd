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

/** A check of a body that its DTO cannot make, since it needs a provider. */
export interface BodyCheck {
  /** The faults of the members that it knows, whatever the others hold. */
  problemsOf(body: object): Promise<readonly ErrorDetail[]>;
}

/** An operation whose 400 names all faults of its body: those of the DTO, and those that the check finds in other members. */
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
      const details = error.details ?? [];
      const named = new Set(details.map(({ field }) => memberOf(field)));
      const further = (await this.check.problemsOf(body)).filter(({ field }) => !named.has(memberOf(field)));
      throw further.length === 0 ? error : new ValidationFailed([...details, ...further]);
    }
  }
  return UseInterceptors(BodyCheckInterceptor);
}

/** `events` of `events.0`. */
function memberOf(field: string): string {
  return field.split('.', 1)[0] ?? field;
}
