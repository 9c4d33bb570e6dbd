/**
 * Sizes of a window: the number of concurrent attempts that one process makes at a healthy receiver.
 * Growing latency reduces a window, but not below `initial`; failures reduce it, but not below `min`.
 */
export const windowSizes = { min: 1, initial: 8, max: 64 } as const;

/** The mean latency may be this many times the lowest mean, plus some time for delays on our side. */
const maxLatencyFactor = 1.5;
const latencySlackMs = 10;
/**
 * After a slower round, the lowest mean rises by this share of the difference, so that a receiver that became
 * slower permanently is not held back.
 */
const riseOfLowest = 0.02;

/** The window of a receiver. Results of attempts change it, as acknowledgements do in TCP (RFC 5681). */
export interface Window {
  /** Maximum number of concurrent attempts. */
  readonly size: number;
  /** Below it, a round of successes doubles the window; from it on, a round adds one. */
  readonly threshold: number;
  /** Number of reductions so far. */
  readonly reductions: number;
  /** Successes since the last change of the size. */
  readonly successes: number;
  /** Sum of the durations of these successes. */
  readonly totalMs: number;
  /** Lowest mean latency of a round; undefined before the first. */
  readonly lowestMs: number | undefined;
}

export const initialWindow: Window = {
  size: windowSizes.initial,
  threshold: windowSizes.max,
  reductions: 0,
  successes: 0,
  totalMs: 0,
  lowestMs: undefined,
};

/** State of the window at the start of an attempt. */
export interface WindowAtStart {
  /** `Window.reductions` at that time. */
  readonly reductions: number;
  /** Whether the window was full with this attempt and those that started with it. */
  readonly isFull: boolean;
}

/** The result of an attempt. */
export interface WindowResult extends WindowAtStart {
  readonly succeeded: boolean;
  /** Null when this process stalled, which makes the duration meaningless. */
  readonly durationMs: number | null;
}

/**
 * Returns the window after an attempt. A failure halves it. A round, as many successes as the window's size,
 * increases it while the latency stays flat, and halves it otherwise. A success in a window that was not full
 * is ignored, since it shows nothing about a larger window. Many failures at once reduce the window only
 * once: results of attempts that started before the reduction are ignored.
 */
export function windowAfterAttempt(window: Window, attempt: WindowResult): Window {
  if (attempt.reductions !== window.reductions) return window;
  if (!attempt.succeeded) return reduce(window, windowSizes.min);
  if (!attempt.isFull || attempt.durationMs === null) return window;
  const counted = {
    ...window,
    successes: window.successes + 1,
    totalMs: window.totalMs + attempt.durationMs,
  };
  return counted.successes < counted.size ? counted : afterRound(counted);
}

function afterRound(window: Window): Window {
  const meanMs = window.totalMs / window.successes;
  const previousMs = window.lowestMs ?? meanMs;
  const lowestMs = meanMs < previousMs ? meanMs : previousMs + riseOfLowest * (meanMs - previousMs);
  const isFlat = meanMs <= maxLatencyFactor * previousMs + latencySlackMs;
  return isFlat ? grow({ ...window, lowestMs }) : reduce({ ...window, lowestMs }, windowSizes.initial);
}

function grow(window: Window): Window {
  const { size, threshold } = window;
  const grown = size < threshold ? Math.min(2 * size, threshold) : size + 1;
  return { ...window, size: Math.min(grown, windowSizes.max), successes: 0, totalMs: 0 };
}

function reduce(window: Window, minSize: number): Window {
  const size = Math.min(window.size, Math.max(minSize, Math.floor(window.size / 2)));
  return {
    ...window,
    size,
    // Below the initial size the window doubles, so that a recovered receiver regains it in few rounds.
    threshold: Math.max(size, windowSizes.initial),
    reductions: window.reductions + 1,
    successes: 0,
    totalMs: 0,
  };
}

/** Returns how many of `maxCount` further attempts are within the initial window. */
export function countWithinInitialWindow(maxCount: number, running: number): number {
  return Math.min(maxCount, Math.max(0, windowSizes.initial - running));
}

/**
 * Whether enough attempts have ended to claim more deliveries: all of a small batch, half of a large one.
 * Thus a few slow responses do not delay a large window, and claims stay large.
 */
export function mayContinue(attempts: {
  readonly runningAfterClaim: number;
  readonly running: number;
}): boolean {
  const { runningAfterClaim, running } = attempts;
  const isLargeBatch = runningAfterClaim > windowSizes.initial;
  return isLargeBatch ? running <= runningAfterClaim / 2 : running === 0;
}
