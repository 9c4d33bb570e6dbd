import type { Error as ErrorEnvelope } from './generated/store/types.gen.js';

/**
 * The code of an error response; codes may be added (`string & {}` keeps the known ones in the completion of
 * editors). `UNEXPECTED_RESPONSE` means that something else responded instead of the API, e.g. a proxy.
 */
export type ApiErrorCode = ErrorEnvelope['code'] | 'UNEXPECTED_RESPONSE' | (string & {});
export type ErrorDetail = NonNullable<ErrorEnvelope['details']>[number];

/**
 * The API responded with an error. Has the members of the error envelope. Branch on `code`, and on the
 * `reason` of `details`.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly statusCode: number;
  readonly code: ApiErrorCode;
  /** The problems of the request, one element each. */
  readonly details: readonly ErrorDetail[];
  /** The HTTP status text of the envelope; empty for `UNEXPECTED_RESPONSE`. */
  readonly error: string;
  /** Quote it when you contact support. */
  readonly requestId: string | undefined;
  /** From `Retry-After`. After a 503 the request may have had its effect; repeat it with its key. */
  readonly retryAfterMs: number | undefined;

  constructor(response: Response, body: unknown, requestId?: string) {
    const { code, error, message, details } = readEnvelope(body);
    super(`${response.status} ${code}: ${message}`);
    this.statusCode = response.status;
    this.error = error;
    this.code = code;
    this.details = details;
    this.requestId = response.headers.get('x-request-id') ?? requestId;
    this.retryAfterMs = retryAfterMs(response);
  }
}

/**
 * There is no complete response: the connection failed or broke (`cause`), or the response or a part of it
 * did not arrive in time. The request may have had its effect.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly requestId: string | undefined;
  readonly timedOut: boolean;

  constructor(
    cause: unknown,
    request: { readonly requestId: string | undefined; readonly timedOut: boolean },
  ) {
    super(request.timedOut ? 'The server did not respond in time.' : 'The connection to the server failed.', {
      cause,
    });
    this.requestId = request.requestId;
    this.timedOut = request.timedOut;
  }
}

/** There is no valid token: none was stored, or it has expired or was revoked. The person must sign in. */
export class SignInRequiredError extends Error {
  override readonly name = 'SignInRequiredError';
}

const imfFixdate = /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Parses `Retry-After`: seconds or an IMF-fixdate (RFC 9110 §5.6.7, §10.2.3). Returns undefined if missing or
 * malformed.
 */
export function retryAfterMs(response: Response): number | undefined {
  const value = response.headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  // `Date.parse` alone accepts `1.5` and `-1`, as dates in 2001.
  const ms = imfFixdate.test(value) ? Date.parse(value) - Date.now() : NaN;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

function readEnvelope(body: unknown): Pick<ApiError, 'code' | 'error' | 'message' | 'details'> {
  const isEnvelope =
    isRecord(body) && typeof body['code'] === 'string' && typeof body['message'] === 'string';
  if (!isEnvelope)
    return {
      code: 'UNEXPECTED_RESPONSE',
      error: '',
      message: 'The response does not come from the API.',
      details: [],
    };
  const { code, error, message, details } = body;
  return {
    code: String(code),
    error: typeof error === 'string' ? error : '',
    message: String(message),
    details: Array.isArray(details) ? details.filter(isDetail) : [],
  };
}

function isDetail(value: unknown): value is ErrorDetail {
  return isRecord(value) && typeof value['field'] === 'string' && typeof value['reason'] === 'string';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
