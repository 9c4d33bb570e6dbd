/** So long after a token was consumed, nothing that comes can have been sent at the same time any more. */
export const raceAtMostMs = 2_000;

/**
 * So long after its arrival a request that won is answered at the earliest. What was sent at once does not arrive at once, and what
 * arrives after the answer ends the family. An exchange comes once in an authorization, from apps that send it twice by mistake;
 * a refresh under load takes this long anyway.
 */
export const answeredAtLeastMs: Readonly<Record<string, number>> = {
  authorization_code: 50,
  refresh_token: 8,
};

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
