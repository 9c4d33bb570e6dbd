/** The values that `code` can have in an error response. */
export const errorCodes = [
  'VALIDATION_ERROR',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
  'CONFLICT',
  'UNPROCESSABLE_ENTITY',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const;
export type ErrorCode = (typeof errorCodes)[number];

/** The default HTTP status of each code. */
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
} as const satisfies Readonly<Record<ErrorCode, number>>;

/** An invalid part of a request (`items.0.quantity`, the name of a parameter or header), and the reason. */
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
