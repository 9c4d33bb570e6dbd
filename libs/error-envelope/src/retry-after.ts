const responses = new WeakSet<object>();

/** Omits `Retry-After` from the error response: it is not safe to repeat the request. */
export function omitRetryAfter(response: object): void {
  responses.add(response);
}

export function omitsRetryAfter(response: object): boolean {
  return responses.has(response);
}
