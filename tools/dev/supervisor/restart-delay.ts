const firstMs = 500;
export const maxRestartDelayMs = 5_000;
/** A process that ran this long was healthy, so its next restart uses the minimum delay. */
const healthyAfterMs = 30_000;

/** Delay before a restart: 0.5 s, doubled for each consecutive early death after the first, at most 5 s. */
export function restartDelayMs(earlyDeaths: number): number {
  return Math.min(maxRestartDelayMs, firstMs * 2 ** Math.max(0, earlyDeaths - 1));
}

export function wasEarly(livedMs: number): boolean {
  return livedMs < healthyAfterMs;
}
