/** The nine codes of interface.md and the HTTP status each stands with by default. */
export const errorStatuses = {
  VALIDATION_ERROR: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  UNPROCESSABLE_ENTITY: 422,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;
export type ErrorCode = keyof typeof errorStatuses;

/** Where a request is wrong (`items.0.quantity`, a parameter's or a header's name) and why. */
export interface ErrorDetail {
  readonly field: string;
  readonly reason: string;
}

export interface ErrorEnvelope {
  readonly statusCode: number;
  readonly code: ErrorCode;
  readonly error: string;
  readonly message: string;
  readonly details?: readonly ErrorDetail[];
}
