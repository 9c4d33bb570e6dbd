import { STATUS_CODES } from 'node:http';
import { DependencyUnavailable } from './dependency-unavailable.js';
import type { ErrorCode, ErrorEnvelope } from './envelope.js';
import {
  PayloadTooLarge,
  Problem,
  ServiceUnavailable,
  UnsupportedMediaType,
  ValidationFailed,
} from './problems.js';

export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorEnvelope;
}

/** Maps a thrown value to its error response. An unexpected one is a 500 without details. */
export function toErrorResponse(thrown: unknown): ErrorResponse {
  const problem = problemOf(thrown);
  if (problem !== undefined) return errorResponse(problem.status, problem.code, problem.message, problem);
  if (statusOfHttpException(thrown) === 404) {
    return errorResponse(404, 'NOT_FOUND', 'This path or method does not exist.');
  }
  return errorResponse(500, 'INTERNAL_ERROR', 'An unexpected error occurred on the server.');
}

/** Returns the problem that a known error stands for: one of this library, or of Express and Nest. */
function problemOf(thrown: unknown): Problem | undefined {
  if (thrown instanceof Problem) return thrown;
  if (thrown instanceof DependencyUnavailable) return new ServiceUnavailable();
  if (thrown instanceof URIError)
    return new ValidationFailed([{ field: 'path', reason: 'malformed_encoding' }]);
  const type = property(thrown, 'type'); // errors of body-parser have one
  if (type === 'entity.too.large') return new PayloadTooLarge(Number(property(thrown, 'limit')));
  if (type === 'encoding.unsupported')
    return new UnsupportedMediaType('Send the request body without Content-Encoding.', 'content-encoding');
  if (type === 'charset.unsupported')
    return new UnsupportedMediaType('The character set of the request body is not supported.');
  if (type === 'entity.parse.failed') {
    return new ValidationFailed(
      [{ field: 'body', reason: 'malformed_json' }],
      'The request body is not valid JSON.',
    );
  }
  if (typeof type === 'string' && property(thrown, 'status') === 400) {
    return new ValidationFailed(
      [{ field: 'body', reason: 'unreadable' }],
      'The request body could not be read.',
    );
  }
  // Nest and Express throw a 400 for a path that they cannot decode. The suite's own code throws Problems.
  if (statusOfHttpException(thrown) === 400) {
    return new ValidationFailed([{ field: 'path', reason: 'malformed' }]);
  }
  return undefined;
}

/** Returns the status of Nest's `HttpException`, without loading Nest: operator commands use this library. */
function statusOfHttpException(thrown: unknown): unknown {
  const getStatus = property(thrown, 'getStatus');
  return typeof getStatus === 'function' ? getStatus.call(thrown) : undefined;
}

function errorResponse(status: number, code: ErrorCode, message: string, problem?: Problem): ErrorResponse {
  return {
    status,
    headers: problem?.headers ?? {},
    body: {
      statusCode: status,
      code,
      error: STATUS_CODES[status] ?? 'Error',
      message,
      ...(problem?.details === undefined ? {} : { details: problem.details }),
    },
  };
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
