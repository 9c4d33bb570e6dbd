import fc from 'fast-check';
import {
  countWithinInitialWindow,
  initialWindow,
  mayContinue,
  type Window,
  windowAfterAttempt,
  windowSizes,
} from './window.rules.js';

/** Returns the window after a success of a full window. */
function succeed(window: Window, durationMs: number): Window {
  return windowAfterAttempt(window, {
    succeeded: true,
    isFull: true,
    durationMs,
    reductions: window.reductions,
  });
}

function fail(window: Window): Window {
  return windowAfterAttempt(window, {
    succeeded: false,
    isFull: true,
    durationMs: 50,
    reductions: window.reductions,
  });
}

/**
 * Runs attempts at a receiver whose latency depends on the number of concurrent attempts. Returns the window
 * at the start and after each attempt.
 */
function runAttempts(from: Window, attempts: number, latencyMs: (concurrent: number) => number): Window[] {
  const windows = [from];
  let window = from;
  for (let sent = 0; sent < attempts; sent += 1) {
    window = succeed(window, latencyMs(window.size));
    windows.push(window);
  }
  return windows;
}
const lastOf = (windows: readonly Window[]): Window => windows.at(-1) ?? initialWindow;
const flatLatency = () => 100;
const anAttempt = fc.record({
  succeeded: fc.boolean(),
  isFull: fc.boolean(),
  durationMs: fc.option(fc.integer({ min: 0, max: 15_000 })),
  /** Whether it started before the last reduction. */
  isLate: fc.boolean(),
});

describe('the window of a receiver', () => {
  it('doubles with each round of successes while the latency stays flat, up to 64', () => {
    const sizes = runAttempts(initialWindow, 8 + 16 + 32 + 1_000, flatLatency).map(({ size }) => size);
    expect([sizes[7], sizes[8], sizes[23], sizes[24], sizes[55], sizes[56]]).toEqual([8, 16, 16, 32, 32, 64]);
    expect(sizes.at(-1)).toBe(64);
  });

  it('is halved by a failure, and then grows by one with each round', () => {
    const failed = fail(lastOf(runAttempts(initialWindow, 200, flatLatency)));
    expect(failed).toMatchObject({ size: 32, successes: 0, totalMs: 0 });
    const grown = lastOf(runAttempts(failed, 32, flatLatency));
    expect([grown.size, fail(grown).size]).toEqual([33, 16]);
    expect(lastOf(runAttempts(failed, 32 + 33, flatLatency)).size).toBe(34);
  });

  it('is halved once by failures of attempts that started together', () => {
    const large = lastOf(runAttempts(initialWindow, 200, flatLatency));
    const together = { succeeded: false, isFull: true, durationMs: 50, reductions: large.reductions };
    let window = large;
    for (let failed = 0; failed < 64; failed += 1) window = windowAfterAttempt(window, together);
    expect(window.size).toBe(32);
  });

  it('shrinks to one attempt while all fail, and regains its initial size after seven successes', () => {
    let window = initialWindow;
    for (let failed = 0; failed < 10; failed += 1) window = fail(window);
    expect(window.size).toBe(1);
    expect(lastOf(runAttempts(window, 1 + 2 + 4, flatLatency)).size).toBe(windowSizes.initial);
  });

  it('grows up to a mean latency of 1.5 times the lowest plus 10 ms, and shrinks above it', () => {
    const window = lastOf(runAttempts(initialWindow, 8, flatLatency));
    expect(window).toMatchObject({ size: 16, lowestMs: 100 });
    expect(lastOf(runAttempts(window, 16, () => 160))).toMatchObject({ size: 32, lowestMs: 101.2 });
    expect(lastOf(runAttempts(window, 16, () => 161)).size).toBe(windowSizes.initial);
  });

  it.each([1, 8, 12, 20])(
    'stays between 8 and the larger of 16 and 2.5 times the capacity of a receiver that handles %d at once and queues the rest',
    (capacity) => {
      const queueing = (concurrent: number): number => 100 * Math.max(1, concurrent / capacity);
      const later = runAttempts(initialWindow, 20_000, queueing).slice(10_000);
      const sizes = later.map(({ size }) => size);
      expect(Math.min(...sizes)).toBeGreaterThanOrEqual(windowSizes.initial);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(Math.max(2 * windowSizes.initial, 2.5 * capacity));
    },
  );

  it('grows again at a receiver that has become slower permanently', () => {
    const fast = lastOf(runAttempts(initialWindow, 2_000, flatLatency));
    const slower = runAttempts(fast, 5_000, () => 300).map(({ size }) => size);
    expect(Math.min(...slower)).toBe(windowSizes.initial);
    expect(slower.at(-1)).toBe(windowSizes.max);
  });

  it('does not grow while it is not full, whatever else limits the attempts', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 15_000 })), (durations) => {
        const window = durations.reduce(
          (before, durationMs) =>
            windowAfterAttempt(before, { succeeded: true, isFull: false, durationMs, reductions: 0 }),
          initialWindow,
        );
        expect(window.size).toBe(windowSizes.initial);
      }),
    );
  });

  it('is always from 1 to 64, never grows by a failure, and is not changed by late results', () => {
    fc.assert(
      fc.property(fc.array(anAttempt, { maxLength: 500 }), (attempts) => {
        let window = initialWindow;
        for (const { isLate, ...attempt } of attempts) {
          const before = window;
          window = windowAfterAttempt(before, {
            ...attempt,
            reductions: before.reductions - (isLate ? 1 : 0),
          });
          expect(window.size).toBeGreaterThanOrEqual(windowSizes.min);
          expect(window.size).toBeLessThanOrEqual(windowSizes.max);
          if (!attempt.succeeded) expect(window.size).toBeLessThanOrEqual(before.size);
          if (isLate) expect(window).toEqual(before);
        }
      }),
    );
  });

  it('grows back to 64 after any results, once the latency is flat', () => {
    fc.assert(
      fc.property(fc.array(anAttempt, { maxLength: 200 }), (attempts) => {
        const past = attempts.reduce(
          (window, attempt) => windowAfterAttempt(window, { ...attempt, reductions: window.reductions }),
          initialWindow,
        );
        expect(lastOf(runAttempts(past, 20_000, flatLatency)).size).toBe(windowSizes.max);
      }),
      { numRuns: 30 },
    );
  });
});

describe('the attempts within the initial window', () => {
  it.each([
    [5, 0, 5],
    [5, 6, 2],
    [5, 10, 0],
  ])('of %d further attempts, while %d are running, are %d', (maxCount, running, expected) => {
    expect(countWithinInitialWindow(maxCount, running)).toBe(expected);
  });
});

describe('a batch', () => {
  it.each([
    [8, 1, false],
    [8, 0, true],
    [64, 33, false],
    [64, 32, true],
  ])(
    'of %d attempts is followed by the next when %d are running: %s',
    (runningAfterClaim, running, expected) => {
      expect(mayContinue({ runningAfterClaim, running })).toBe(expected);
    },
  );
});
