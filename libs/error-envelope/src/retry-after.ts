const responses = new WeakSet<object>();

/** The error response will not have `Retry-After`: to repeat the request as it was sent is not safe. */
export function omitRetryAfter(response: object): void {
  responses.add(response);
}

export function omitsRetryAfter(response: object): boolean {
  return responses.has(response);
}
