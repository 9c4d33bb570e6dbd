import { STATUS_CODES } from 'node:http';
import { DependencyUnavailable } from './dependency-unavailable.js';
import type { ErrorEnvelope } from './envelope.js';
import {
  InternalError,
  NotFound,
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
  const { status, headers, code, message, details } = problemOf(thrown);
  return {
    status,
    headers,
    body: {
      statusCode: status,
      code,
      error: STATUS_CODES[status] ?? 'Error',
      message,
      ...(details !== undefined && { details }),
    },
  };
}

/** Returns the problem that an error stands for: one of this library, of Express or of Nest. */
function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  if (thrown instanceof DependencyUnavailable) return new ServiceUnavailable();
  if (isUnknownPath(thrown)) return new NotFound('path or method');
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
  return new InternalError();
}

/** Whether Nest found no route, without loading Nest: operator commands use this library. */
function isUnknownPath(thrown: unknown): boolean {
  const getStatus = property(thrown, 'getStatus');
  return typeof getStatus === 'function' && getStatus.call(thrown) === 404;
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
