/** So long after a token was consumed, nothing that comes can have been sent at the same time any more. */
export const raceAtMostMs = 2_000;

/**
 * So long after its arrival a request that won is answered at the earliest. What was sent at once does not arrive at once, and what
 * arrives after the answer ends the family. An exchange comes once in an authorization, from apps that send it twice by mistake;
 * a refresh takes this long anyway, and one over a connection of its own is known by the age of that.
 */
export const answeredAtLeastMs: Readonly<Record<string, number>> = {
  authorization_code: 50,
  refresh_token: 3,
};

/** A connection that took longer to send its first request was opened for another. */
const connectionAgeAtMostMs = 1_000;

/**
 * When a request was decided on, as far as anybody can tell. Who opens a connection for a request has decided to send it by then; until
 * it arrives a TLS handshake goes by, many of them when many requests are sent at once.
 * @param connectionAge seconds since its connection was opened, as the gateway says of a connection's first request
 */
export function decidedAtMs(arrivedAtMs: number, connectionAge: unknown): number {
  if (typeof connectionAge !== 'string' || !/^\d{1,3}(\.\d{1,3})?$/.test(connectionAge)) return arrivedAtMs;
  const ageMs = Number(connectionAge) * 1000;
  return ageMs > connectionAgeAtMostMs ? arrivedAtMs : arrivedAtMs - ageMs;
}

export interface SecondUse {
  /** When its request was decided on. */
  readonly decidedAtMs: number;
  /** When the one that won consumed the token. */
  readonly consumedAtMs: number;
}

/** What the times alone say; `ask` when it matters when the winner's answer left. */
export function judgeByTime({ decidedAtMs, consumedAtMs }: SecondUse): 'race' | 'replay' | 'ask' {
  if (decidedAtMs < consumedAtMs) return 'race';
  return decidedAtMs - consumedAtMs > raceAtMostMs ? 'replay' : 'ask';
}

/**
 * A request that was decided on before the winner's answer had left cannot have been sent in knowledge of it. Without such an answer it
 * is a replay: a family that lives on by mistake is worse than one that ends by mistake.
 */
export function isRace(decidedAtMs: number, answeredAtMs: number | undefined): boolean {
  return answeredAtMs !== undefined && decidedAtMs < answeredAtMs;
}
