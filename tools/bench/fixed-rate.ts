import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from './rounds.ts';

/**
 * Returns the latencies in ms of requests at a fixed rate, independent of earlier responses. Each is measured
 * from its due time, so that a stalled server is charged for the requests it delays (no coordinated
 * omission).
 */
export async function latenciesAtRate(
  call: Caller,
  perSecond: number,
  durationMs: number,
): Promise<number[]> {
  const latenciesMs: number[] = [];
  const pending = new Set<Promise<void>>();
  const startedAtMs = performance.now();
  const total = Math.floor((perSecond * durationMs) / 1000);
  for (let sent = 0; sent < total;) {
    const dueNow = Math.min(total, Math.floor(((performance.now() - startedAtMs) * perSecond) / 1000) + 1);
    for (; sent < dueNow; sent += 1) {
      const dueAtMs = startedAtMs + (sent * 1000) / perSecond;
      const request = call().then(() => {
        latenciesMs.push(performance.now() - dueAtMs);
        pending.delete(request);
      });
      request.catch(() => undefined); // `Promise.all` rejects with it at the end
      pending.add(request);
    }
    await sleep(1);
  }
  await Promise.all(pending);
  return latenciesMs;
}

/** @param share 0.99 for the 99th percentile */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
