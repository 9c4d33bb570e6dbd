const firstMs = 500;
const maxMs = 5_000;
/** A process that ran this long was healthy, so its next restart uses the minimum delay. */
const healthyAfterMs = 30_000;

/** Delay before a restart in ms: 0.5 s, doubled for each consecutive early death, at most 5 s. */
export function restartDelayMs(earlyDeaths: number): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(earlyDeaths, 10));
}

export function wasEarly(livedMs: number): boolean {
  return livedMs < healthyAfterMs;
}
