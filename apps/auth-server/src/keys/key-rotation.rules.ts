/** What the rules need to know of a stored key. */
export interface KeyTimes {
  readonly state: 'active' | 'next' | 'retiring';
  /** When it was made, and published. */
  readonly created_at: Date;
  readonly activated_at: Date | null;
}

const dayMs = 86_400_000;

/**
 * How long a key is published before the schedule lets it sign: an API reads the keys every ten minutes, and a cache in between
 * may hold them for the five that our answer allows.
 */
export const publishedAheadMs = 900_000;

/** How long until every replica has noticed a new key and publishes it: it looks four times a second. */
export const spreadMs = 1_000;

/** Whether the active keys have signed for so many days (0 is for ever), and all next ones were published long enough. */
export function isRotationDue(keys: readonly KeyTimes[], days: number, now: Date): boolean {
  const age = (at: Date | null): number => now.getTime() - (at?.getTime() ?? now.getTime());
  const active = keys.filter(({ state }) => state === 'active');
  const next = keys.filter(({ state }) => state === 'next');
  return (
    days > 0 &&
    active.some(({ activated_at }) => age(activated_at) >= days * dayMs) &&
    next.length >= active.length &&
    next.every(({ created_at }) => age(created_at) >= publishedAheadMs)
  );
}

/** What is left of the time that the next keys need to be known to every replica. */
export function spreadWaitMs(keys: readonly KeyTimes[], now: Date): number {
  const waits = keys
    .filter(({ state }) => state === 'next')
    .map(({ created_at }) => created_at.getTime() + spreadMs - now.getTime());
  return Math.min(spreadMs, Math.max(0, ...waits));
}
