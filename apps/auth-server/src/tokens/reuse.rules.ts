/** So long after a token was consumed, nothing that comes can have been sent at the same time any more. */
export const raceAtMostMs = 2_000;

/**
 * So long after its arrival a request that won is answered at the earliest. What was sent at once does not arrive at once, and what
 * arrives after the answer ends the family. An exchange comes once in an authorization, from apps that send it twice by mistake;
 * a refresh takes this long anyway, and one over a connection of its own is known by the age of that.
 */
export const answeredAtLeastMs: Readonly<Record<string, number>> = {
  authorization_code: 50,
  refresh_token: 5,
};

/** A connection that took longer to send its first request was opened for another. */
const connectionAgeAtMostMs = 1_000;
/** The gateway's clock and ours count whole milliseconds. */
const clockStepsMs = 2;

/** When a request was read from its socket, and when its sender decided on it at the latest. */
export interface Arrival {
  readonly arrivedAtMs: number;
  readonly decidedAtMs: number;
}

/** When an answer began to be written, and when it had left and all that lay in the sockets then was read. */
export interface Answered {
  readonly writtenAtMs: number;
  readonly leftAtMs: number;
}

/**
 * Who opens a connection for a request has decided to send it by then; until it arrives a TLS handshake goes by, many of them when many
 * requests are sent at once.
 * @param connectionAge seconds since its connection was opened, as the gateway says of a connection's first request
 */
export function arrival(arrivedAtMs: number, connectionAge: unknown): Arrival {
  if (typeof connectionAge !== 'string' || !/^\d{1,3}(\.\d{1,3})?$/.test(connectionAge))
    return { arrivedAtMs, decidedAtMs: arrivedAtMs };
  const ageMs = Number(connectionAge) * 1000;
  const earlierMs = ageMs > connectionAgeAtMostMs ? 0 : Math.max(0, ageMs - clockStepsMs);
  return { arrivedAtMs, decidedAtMs: arrivedAtMs - earlierMs };
}

/**
 * What the times alone say of a token that comes a second time; `ask` when it matters when the winner was answered.
 * @param consumedAtMs when the one that won consumed it
 */
export function judgeByTime(
  { arrivedAtMs, decidedAtMs }: Arrival,
  consumedAtMs: number,
): 'race' | 'replay' | 'ask' {
  if (decidedAtMs < consumedAtMs) return 'race';
  return arrivedAtMs - consumedAtMs > raceAtMostMs ? 'replay' : 'ask';
}

/**
 * A request that was there before the winner's answer had left, or was decided on before that was written, cannot have been sent in
 * knowledge of it. Without such an answer it is a replay: a family that lives on by mistake is worse than one that ends by mistake.
 */
export function isRace({ arrivedAtMs, decidedAtMs }: Arrival, answered: Answered | undefined): boolean {
  if (answered === undefined) return false;
  return arrivedAtMs < answered.leftAtMs || decidedAtMs < answered.writtenAtMs;
}
