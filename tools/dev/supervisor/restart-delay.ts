const firstMs = 500;
const mostMs = 5_000;
/** A process that lived this long was well: its next death starts from the shortest delay. */
const healthyAfterMs = 30_000;

/** How long to wait before the start after a death, in ms: 0.5 s, doubled for each early death in a row, at most 5 s. */
export function restartDelayMs(earlyDeaths: number): number {
  return Math.min(mostMs, firstMs * 2 ** Math.min(earlyDeaths, 10));
}

export function wasEarly(livedMs: number): boolean {
  return livedMs < healthyAfterMs;
}
