export { errorCodes, type ErrorCode, type ErrorDetail, type ErrorEnvelope } from './envelope.js';
export {
  Conflict,
  Forbidden,
  InternalError,
  NotFound,
  throwNotFound,
  PayloadTooLarge,
  RateLimited,
  ServiceUnavailable,
  Unauthorized,
  Unprocessable,
  UnsupportedMediaType,
  ValidationFailed,
} from './problems.js';
export { toErrorResponse } from './to-error-response.js';
export { DependencyUnavailable } from './dependency-unavailable.js';
