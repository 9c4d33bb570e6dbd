import {
  NotFound,
  PayloadTooLarge,
  RateLimited,
  ServiceUnavailable,
  toErrorResponse,
  ValidationFailed,
} from '@fulfilment/error-envelope';
import { jsonResponse, type RenderedResponse } from '@fulfilment/http-service';
import { messagePage, tooManyRequestsPage, unavailablePage } from '../../pages/message.page.js';
import { belowMount, isBrowserRoute } from '../../http/route-kind.rules.js';

/** OAuth errors by the code of the error envelope; any other code is `invalid_request`. */
const oauthErrors: Readonly<Record<string, string>> = {
  RATE_LIMITED: 'temporarily_unavailable',
  SERVICE_UNAVAILABLE: 'temporarily_unavailable',
  INTERNAL_ERROR: 'server_error',
};

/** An unknown path or method. */
export const noSuchPath = new NotFound('path or method');

/**
 * Returns the response to an error that occurred before oidc-provider handled the request. A malformed URL,
 * 413, 429 and 503 are pages on browser routes. Other errors there, and all errors below the mount path, are
 * JSON of RFC 6749; errors at other paths have the error envelope.
 * @param path full path
 */
export function errorResponseAt(path: string, error: unknown): RenderedResponse {
  if (!isBrowserRoute(path))
    return belowMount(path) === undefined ? envelopeResponse(error) : oauthErrorResponse(error);
  if (error instanceof RateLimited) return tooManyRequestsPage(error);
  if (error instanceof PayloadTooLarge) {
    const text = 'The form contains too much data. Go back to the app and start again.';
    return messagePage({ title: 'The form is too large', text, status: error.status });
  }
  if (error instanceof ValidationFailed) {
    const text = 'It contains invalid characters. Go back to the app and start again.';
    return messagePage({ title: 'This link is invalid', text, status: error.status });
  }
  return error instanceof ServiceUnavailable ? unavailablePage() : oauthErrorResponse(error);
}

export function envelopeResponse(error: unknown): RenderedResponse {
  const { status, headers, body } = toErrorResponse(error);
  return jsonResponse(status, headers, body);
}

/** Error responses contain nothing secret, and a browser app needs `Retry-After`. */
const headersForAnyOrigin = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After, RateLimit, RateLimit-Policy, X-Request-Id',
};

/** Returns a body with the members of RFC 6749 §5.2, for OAuth libraries, and those of the error envelope. */
function oauthErrorResponse(error: unknown): RenderedResponse {
  const { status, headers, body } = toErrorResponse(error);
  return jsonResponse(
    status,
    { ...headers, ...headersForAnyOrigin, 'Cache-Control': 'no-store' },
    { ...body, error: oauthErrors[body.code] ?? 'invalid_request', error_description: body.message },
  );
}
