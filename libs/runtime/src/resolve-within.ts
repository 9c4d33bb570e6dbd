/**
 * Waits for work, but no longer than the timeout. After the timeout, the work itself continues.
 * @param onTimeout returns the result, or throws, when the timeout has passed
 */
export async function resolveWithin<Result, Late>(
  timeoutMs: number,
  work: Promise<Result>,
  onTimeout: () => Late,
): Promise<Result | Late> {
  // An aborted timer of node:timers/promises would create an error with a stack trace each time (20 µs).
  const timer = Promise.withResolvers<void>();
  const timeout = setTimeout(timer.resolve, timeoutMs);
  try {
    return await Promise.race([work, timer.promise.then(onTimeout)]);
  } finally {
    clearTimeout(timeout);
  }
}
