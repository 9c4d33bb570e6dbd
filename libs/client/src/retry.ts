import { retryAfterMs } from './errors.js';

export interface Attempt {
  readonly request: Request;
  /** Undefined if the connection failed, or there was no complete response in time. */
  readonly response: Response | undefined;
  /** Retries before this attempt. */
  readonly retries: number;
  /** A number from 0 to 1. */
  readonly random: number;
}

const firstBackoffMs = 500;
const maxBackoffMs = 8_000;
/** After a longer `Retry-After` the caller gets the error response, instead of waiting without a result. */
const maxRetryAfterMs = 60_000;
/** 409 has `Retry-After` while the first request with this idempotency key runs. */
const retriedWithRetryAfter: readonly number[] = [409, 429, 503];
const retriedWithoutRetryAfter: readonly number[] = [429, 503];

/**
 * Returns the delay before the next attempt; undefined if there should be none. Any request is repeated if
 * the response has `Retry-After`: a request with 409 or 429 had no effect. One with 503 may have had its
 * effect, but if it creates something, it has an idempotency key (`createApiClient`), or a repetition returns
 * what was created (a track upload). Without the header, a request is repeated only if that has no further
 * effect.
 */
export function retryDelayMs({ request, response, retries, random }: Attempt): number | undefined {
  const backoffMs = Math.min(firstBackoffMs * 2 ** retries, maxBackoffMs);
  const requiredMs = response === undefined ? undefined : retryAfterMs(response);
  if (response !== undefined && requiredMs !== undefined && retriedWithRetryAfter.includes(response.status)) {
    // The jitter prevents that all clients retry at the same time. It only adds to the required delay.
    return requiredMs > maxRetryAfterMs ? undefined : requiredMs + backoffMs * random;
  }
  const isTransient = response === undefined || retriedWithoutRetryAfter.includes(response.status);
  return isTransient && isRepeatable(request) ? backoffMs * (0.5 + random / 2) : undefined;
}

/** Whether a repetition has no further effect: by its method (RFC 9110 §9.2.2), or its idempotency key. */
function isRepeatable(request: Request): boolean {
  return ['GET', 'HEAD', 'PUT', 'DELETE'].includes(request.method) || request.headers.has('idempotency-key');
}
