/** So long after a token was consumed, nothing that comes can have been sent at the same time any more. */
export const raceAtMostMs = 2_000;

export interface SecondUse {
  /** When its request was read from the socket. */
  readonly arrivedAtMs: number;
  /** When the one that won consumed the token. */
  readonly consumedAtMs: number;
}

/** What the times alone say; `ask` when it matters when the winner's answer left. */
export function judgeByTime({ arrivedAtMs, consumedAtMs }: SecondUse): 'race' | 'replay' | 'ask' {
  if (arrivedAtMs < consumedAtMs) return 'race';
  return arrivedAtMs - consumedAtMs > raceAtMostMs ? 'replay' : 'ask';
}

/**
 * A request that was there before the winner's answer had left cannot have been sent in knowledge of it. Without such an answer it
 * is a replay: a family that lives on by mistake is worse than one that ends by mistake.
 */
export function isRace(arrivedAtMs: number, answeredAtMs: number | undefined): boolean {
  return answeredAtMs !== undefined && arrivedAtMs < answeredAtMs;
}
