/**
 * The longest time in milliseconds for which the event loop of this thread ran without a break while `work` was under way.
 * Processor time of the thread is measured, not time on the clock: a machine that is busy with other work changes nothing.
 */
export async function longestBlockMs(work: () => Promise<unknown>): Promise<number> {
  let longestMicros = 0;
  let running = true;
  let before = threadMicros();
  const measure = (): void => {
    const now = threadMicros();
    longestMicros = Math.max(longestMicros, now - before);
    before = now;
    if (running) setImmediate(measure);
  };
  setImmediate(measure);
  await work();
  await new Promise(setImmediate);
  running = false;
  return longestMicros / 1_000;
}

/**
 * The shortest longest block of at most `tries` runs, until one is within the limit. What only some runs show is not the work's:
 * garbage collection, compilation, and time that a virtual machine was denied, which its threads are charged for.
 */
export async function steadyBlockMs(
  work: () => Promise<unknown>,
  limitMs: number,
  tries = 12,
): Promise<number> {
  let shortestMs = Infinity;
  for (let run = 0; run < tries && shortestMs > limitMs; run += 1) {
    shortestMs = Math.min(shortestMs, await longestBlockMs(work));
  }
  return shortestMs;
}

function threadMicros(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
