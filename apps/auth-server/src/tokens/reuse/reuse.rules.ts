/** A request that arrives later than this after the token was consumed cannot be concurrent. */
export const maxRaceMs = 2_000;

/**
 * Minimum time from the arrival of a successful request to its response, by grant type. Concurrent requests
 * do not arrive at the same moment, and one that arrives after the response counts as a replay, which ends
 * the family. An exchange may be slow, since it happens once per authorization, and some apps send it twice
 * by mistake. A refresh takes about 5 ms, and a concurrent one on a new connection is recognised by the age
 * of that connection.
 */
export const minResponseMs: Readonly<Record<string, number>> = {
  authorization_code: 50,
  refresh_token: 5,
};

/** A connection that is older than this at its first request was not opened for that request. */
const maxConnectionAgeMs = 1_000;
/** The gateway's clock and ours have a resolution of one millisecond each. */
const clockErrorMs = 2;

export interface Arrival {
  /** When the request was read from its socket. */
  readonly arrivedAtMs: number;
  /**
   * The latest time at which its sender decided to send it: the arrival, or up to a second earlier if the
   * connection was opened for it.
   */
  readonly decidedAtMs: number;
}

export interface ResponseTimestamps {
  /** Before the first byte was written. */
  readonly startedAtMs: number;
  /** When it had been sent, and all requests that were then in the server's sockets had been read. */
  readonly sentAtMs: number;
}

/**
 * Computes when a request was decided on. A client that opens a connection for a request has already decided
 * to send it; the request arrives after the TLS handshake, or later when many are sent concurrently.
 * @param connectionAge header `X-Connection-Age`: seconds since the connection was opened; the gateway sends
 * it with the first request of a connection only
 */
export function computeArrival(arrivedAtMs: number, connectionAge: unknown): Arrival {
  if (typeof connectionAge !== 'string' || !/^\d{1,3}(\.\d{1,3})?$/.test(connectionAge))
    return { arrivedAtMs, decidedAtMs: arrivedAtMs };
  const ageMs = Number(connectionAge) * 1000;
  const earlierMs = ageMs > maxConnectionAgeMs ? 0 : Math.max(0, ageMs - clockErrorMs);
  return { arrivedAtMs, decidedAtMs: arrivedAtMs - earlierMs };
}

/**
 * Classifies the second use of a token; `undecided` when it depends on when the winner's response was sent.
 * @param consumedAtMs when the winner consumed the token
 */
export function classifyReuse(
  { arrivedAtMs, decidedAtMs }: Arrival,
  consumedAtMs: number,
): 'race' | 'replay' | 'undecided' {
  if (decidedAtMs < consumedAtMs) return 'race';
  return arrivedAtMs - consumedAtMs > maxRaceMs ? 'replay' : 'undecided';
}

/**
 * Whether a request cannot depend on the winner's response: it had already arrived when the response was
 * sent, or its sender had already decided on it when the response started. If the timestamps are unknown, the
 * request counts as a replay: a family that stays alive by mistake is worse than one that ends by mistake.
 */
export function isRace(
  { arrivedAtMs, decidedAtMs }: Arrival,
  response: ResponseTimestamps | undefined,
): boolean {
  if (response === undefined) return false;
  return arrivedAtMs < response.sentAtMs || decidedAtMs < response.startedAtMs;
}
