const responsesWithoutRetryAfter = new WeakSet<object>();

/** Marks a response: if it becomes an error, it has no `Retry-After`, since a retry is not safe. */
export function omitRetryAfter(response: object): void {
  responsesWithoutRetryAfter.add(response);
}

export function omitsRetryAfter(response: object): boolean {
  return responsesWithoutRetryAfter.has(response);
}
