import {
  type ErrorEnvelope,
  NotFound,
  PayloadTooLarge,
  RateLimited,
  toErrorResponse,
} from '@fulfilment/error-envelope';
import { jsonAnswer, type PlainAnswer } from '@fulfilment/http-service';
import { messagePage, tooManyPage } from '../pages/message.page.js';
import { isVisited, mountPath } from '../requests/kinds-of-path.rules.js';

const oauthErrors: Readonly<Record<string, string>> = {
  RATE_LIMITED: 'temporarily_unavailable',
  SERVICE_UNAVAILABLE: 'temporarily_unavailable',
  INTERNAL_ERROR: 'server_error',
};

/** A path or method that nobody has, here or at oidc-provider. */
export const noSuchPath = new NotFound('path or method');

/** What goes wrong before oidc-provider has a request: too many or too much is a page for people; the rest is JSON for apps. @param path whole */
export function refusalAt(path: string, error: unknown): PlainAnswer {
  if (!isVisited(path)) return oauthRefusal(error);
  if (error instanceof RateLimited) return tooManyPage(error);
  if (error instanceof PayloadTooLarge) {
    const text = 'It sent more than can be read. Go back to the app and start again.';
    return messagePage({ title: 'This form is too large', text, status: error.status });
  }
  return oauthRefusal(error);
}

/** Of an address nobody can read, each in its own form: a page for people, RFC 6749 JSON for apps, else the envelope. @param path whole */
export function unreadableAt(path: string, error: unknown): PlainAnswer {
  if (isVisited(path)) {
    const text = 'Its address holds characters that nobody can read. Go back to the app and start again.';
    return messagePage({ title: 'This link is not right', text, status: 400 });
  }
  return path.startsWith(mountPath) ? oauthRefusal(error) : envelopeAnswer(error);
}

export function envelopeAnswer(error: unknown): PlainAnswer {
  const { status, headers, body } = toErrorResponse(error);
  return jsonAnswer(status, headers, body);
}

/** There is nothing in a refusal that a page of any origin may not read, and it has to know how long to wait. */
const forAnyOrigin = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After, RateLimit, RateLimit-Policy, X-Request-Id',
};

/** RFC 6749 §5.2 and our envelope in one body: clients of either kind find what they look for. */
function oauthRefusal(error: unknown): PlainAnswer {
  const { status, headers, body } = toErrorResponse(error);
  return jsonAnswer(status, { ...headers, ...forAnyOrigin, 'Cache-Control': 'no-store' }, asOauthError(body));
}

function asOauthError(envelope: ErrorEnvelope): object {
  return {
    ...envelope,
    error: oauthErrors[envelope.code] ?? 'invalid_request',
    error_description: envelope.message,
  };
}
