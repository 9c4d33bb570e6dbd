export type KeyState = 'active' | 'next' | 'retiring';

/** State and times of a stored key. */
export interface KeyTimes {
  readonly state: KeyState;
  /** When it was created and published. */
  readonly created_at: Date;
  readonly activated_at: Date | null;
}

const dayMs = 86_400_000;

/**
 * Minimum time that a key is published before a scheduled rotation makes it active: resource servers may read
 * the keys every ten minutes, and caches may keep them for the five minutes that the response allows.
 */
export const minPublishedMs = 900_000;

/** Time until every replica publishes a new key; replicas poll four times a second. */
const propagationMs = 1_000;

/**
 * Whether an active key has signed for `days` days, and all next keys were published long enough. False for 0
 * days.
 */
export function isRotationDue(keys: readonly KeyTimes[], days: number, now: Date): boolean {
  const ageMs = (at: Date): number => now.getTime() - at.getTime();
  const active = keys.filter(({ state }) => state === 'active');
  const next = keys.filter(({ state }) => state === 'next');
  return (
    days > 0 &&
    active.some(({ activated_at }) => activated_at !== null && ageMs(activated_at) >= days * dayMs) &&
    next.length >= active.length &&
    next.every(({ created_at }) => ageMs(created_at) >= minPublishedMs)
  );
}

/** Remaining time until every replica publishes the next keys; at most a second, even if a clock is slow. */
export function propagationWaitMs(keys: readonly KeyTimes[], now: Date): number {
  const waits = keys
    .filter(({ state }) => state === 'next')
    .map(({ created_at }) => created_at.getTime() + propagationMs - now.getTime());
  return Math.min(propagationMs, Math.max(0, ...waits));
}
