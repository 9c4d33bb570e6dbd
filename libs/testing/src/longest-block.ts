/**
 * Returns the longest time in milliseconds for which the event loop of this thread was blocked during `work`.
 * Measures CPU time of the thread, not wall-clock time, so other load on the machine does not matter.
 */
async function longestBlockMs(work: () => Promise<unknown>): Promise<number> {
  let longestMicros = 0;
  let isRunning = true;
  let before = threadMicros();
  const measure = (): void => {
    const now = threadMicros();
    longestMicros = Math.max(longestMicros, now - before);
    before = now;
    if (isRunning) setImmediate(measure);
  };
  setImmediate(measure);
  await work();
  await new Promise(setImmediate);
  isRunning = false;
  return longestMicros / 1_000;
}

/**
 * Returns the minimum of `longestBlockMs` over at most `maxRuns` runs, and stops at the first run within the
 * limit. A block that not every run has is caused by something else, such as garbage collection or the host.
 */
export async function repeatableBlockMs(
  work: () => Promise<unknown>,
  limitMs: number,
  maxRuns = 12,
): Promise<number> {
  let shortestMs = Infinity;
  for (let run = 0; run < maxRuns && shortestMs > limitMs; run += 1) {
    shortestMs = Math.min(shortestMs, await longestBlockMs(work));
  }
  return shortestMs;
}

function threadMicros(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
