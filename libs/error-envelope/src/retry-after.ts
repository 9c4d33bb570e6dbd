const responsesWithoutRetryAfter = new WeakSet<object>();

/** Omits `Retry-After` from the error response of a request that is not safe to repeat. */
export function omitRetryAfter(response: object): void {
  responsesWithoutRetryAfter.add(response);
}

export function omitsRetryAfter(response: object): boolean {
  return responsesWithoutRetryAfter.has(response);
}
