export {
  errorCodes,
  errorStatuses,
  type ErrorCode,
  type ErrorDetail,
  type ErrorEnvelope,
} from './envelope.js';
export {
  Conflict,
  Forbidden,
  NotFound,
  throwNotFound,
  PayloadTooLarge,
  Problem,
  RateLimited,
  ServiceUnavailable,
  Unauthorized,
  Unprocessable,
  UnsupportedMediaType,
  ValidationFailed,
} from './problems.js';
export { toErrorResponse, type ErrorResponse } from './to-envelope.js';
export { ErrorEnvelopeFilter } from './error-envelope.filter.js';
export { DtoPipe } from './dto.pipe.js';
export { DependencyUnavailable } from './dependency-unavailable.js';
export { omitRetryAfter } from './retry-after.js';
