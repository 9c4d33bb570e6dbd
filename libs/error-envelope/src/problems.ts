import { type ErrorCode, type ErrorDetail, errorStatuses } from './envelope.js';

const unavailableRetryAfterSeconds = 1;

/** An error that becomes an error response. Use cases throw a subclass by name, without HTTP statuses. */
export abstract class Problem extends Error {
  abstract readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  /** Headers of the response, such as `WWW-Authenticate`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    message: string,
    details?: readonly ErrorDetail[],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.details = details;
    this.headers = headers;
  }

  /** The HTTP status. Some subclasses have a more precise one than the default of their code. */
  get status(): number {
    return errorStatuses[this.code];
  }
}

/** The request does not match the schema of the operation. */
export class ValidationFailed extends Problem {
  readonly code = 'VALIDATION_ERROR';
  constructor(details: readonly ErrorDetail[], message = 'The request is not valid.') {
    super(message, details);
  }
}

export class PayloadTooLarge extends Problem {
  readonly code = 'VALIDATION_ERROR';
  constructor(limitBytes: number) {
    super(`The request body is larger than ${limitBytes} bytes.`);
  }
  override get status(): number {
    return 413;
  }
}

export class UnsupportedMediaType extends Problem {
  readonly code = 'VALIDATION_ERROR';
  constructor(message = 'Send the request body as Content-Type: application/json.', field = 'content-type') {
    super(message, [{ field, reason: 'unsupported_media_type' }]);
  }
  override get status(): number {
    return 415;
  }
}

export class Unauthorized extends Problem {
  readonly code = 'UNAUTHORIZED';
  /** @param challenge the `WWW-Authenticate` value (RFC 6750 §3). */
  constructor(message: string, challenge: string) {
    super(message, undefined, { 'WWW-Authenticate': challenge });
  }
}

export class Forbidden extends Problem {
  readonly code = 'FORBIDDEN';
  constructor(message: string, challenge?: string) {
    super(message, undefined, challenge === undefined ? {} : { 'WWW-Authenticate': challenge });
  }
}

/** The resource does not exist, or the caller may not see it. */
export class NotFound extends Problem {
  readonly code = 'NOT_FOUND';
  constructor(resource: string) {
    super(`This ${resource} does not exist.`);
  }
}

export class Conflict extends Problem {
  readonly code = 'CONFLICT';
  constructor(message: string, details?: readonly ErrorDetail[], retryAfterSeconds?: number) {
    super(message, details, retryAfterHeader(retryAfterSeconds));
  }
}

export class Unprocessable extends Problem {
  readonly code = 'UNPROCESSABLE_ENTITY';
  constructor(message: string, details: readonly ErrorDetail[]) {
    super(message, details);
  }
}

export class RateLimited extends Problem {
  readonly code = 'RATE_LIMITED';
  constructor(retryAfterSeconds: number, headers: Readonly<Record<string, string>> = {}) {
    super('Too many requests. Wait before you retry.', undefined, {
      ...headers,
      ...retryAfterHeader(retryAfterSeconds),
    });
  }
}

export class ServiceUnavailable extends Problem {
  readonly code = 'SERVICE_UNAVAILABLE';
  constructor(message = 'The service is temporarily unavailable.', details?: readonly ErrorDetail[]) {
    super(message, details, retryAfterHeader(unavailableRetryAfterSeconds));
  }
}

/** An error that no caller can correct. The response has none of its details. */
export class InternalError extends Problem {
  readonly code = 'INTERNAL_ERROR';
  constructor() {
    super('An unexpected error occurred on the server.');
  }
}

/** Throws in an expression: `find(…) ?? throwNotFound('order')`. @throws NotFound */
export function throwNotFound(resource: string): never {
  throw new NotFound(resource);
}

function retryAfterHeader(seconds: number | undefined): Record<string, string> {
  return seconds === undefined ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) };
}
