import { alignColumns } from '../dev/output/align-columns.ts';
import type { AcceptedOrder, FailedAttempt } from './shopper.ts';

export interface StepTimes {
  readonly name: string;
  /** When the step began. All times in this file are those of `performance.now()`. */
  readonly fromMs: number;
  /** When everything that the step made unavailable was available again for clients. */
  readonly restoredAtMs: number;
}

/** A step has an effect for this time after its end: connections time out, replicas reconnect. */
const aftermathMs = 3_000;

/** Computes the effect of a step on clients. @param nextAtMs when the next step began, or Infinity */
export function effectOf(
  { name, fromMs, restoredAtMs }: StepTimes,
  nextAtMs: number,
  seen: { readonly accepted: readonly AcceptedOrder[]; readonly failedAttempts: readonly FailedAttempt[] },
) {
  const toMs = Math.min(restoredAtMs + aftermathMs, nextAtMs);
  const within = (atMs: number): boolean => atMs >= fromMs && atMs <= toMs;
  const orders = seen.accepted.filter(
    ({ startedAtMs, acceptedAtMs }) => startedAtMs <= toMs && acceptedAtMs >= fromMs,
  );
  const times = seen.accepted.map(({ acceptedAtMs }) => acceptedAtMs).toSorted((one, other) => one - other);
  const firstAfterMs = times.find((atMs) => atMs > toMs) ?? toMs; // the end of a gap that began before `toMs`
  const gapBounds = [fromMs, ...times.filter(within), firstAfterMs];
  const gapsMs = gapBounds.slice(1).map((atMs, index) => atMs - (gapBounds[index] ?? atMs));
  return {
    name,
    unavailableMs: restoredAtMs - fromMs,
    failedAttempts: seen.failedAttempts.filter(({ atMs }) => within(atMs)).length,
    /** Longest time without an accepted order. */
    longestGapMs: Math.max(...gapsMs),
    /** Longest time from the first attempt to place an order until it was accepted. */
    slowestMs: Math.max(0, ...orders.map(({ startedAtMs, acceptedAtMs }) => acceptedAtMs - startedAtMs)),
    /** Number of orders that were being placed while the step had an effect. */
    orders: orders.length,
  };
}

export function formatEffects(effects: readonly ReturnType<typeof effectOf>[]): string[] {
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  const rows = [
    ['step', 'back after', 'longest gap', 'slowest order', 'failed attempts', 'orders'],
    ...effects.map(({ name, unavailableMs, longestGapMs, slowestMs, failedAttempts, orders }) => [
      name,
      ...[unavailableMs, longestGapMs, slowestMs].map(seconds),
      ...[failedAttempts, orders].map(String),
    ]),
  ];
  return ['', ...alignColumns(rows, (column) => column > 0)];
}
