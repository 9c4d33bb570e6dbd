/** SQLSTATEs that pass by themselves: connections, too many of them, shutdown and start-up, a deadlock or time-out that ended this one. */
const passingSqlStates = /^(08|53|57P0|57014|40P01|40001|55P03)/;
const passingCodes = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN']);
const passingMessages =
  /timeout exceeded when trying to connect|timeout expired|Query read timeout|Connection terminated|connection is closed/i;

/** Whether a dependency was away: the same work may succeed later. */
export function isOutage(thrown: unknown): boolean {
  // By its members, not its class: an error of Node's own is not of the realm that tests run in.
  if (typeof thrown !== 'object' || thrown === null) return false;
  const code: unknown = Reflect.get(thrown, 'code');
  if (typeof code === 'string' && (passingCodes.has(code) || passingSqlStates.test(code))) return true;
  return passingMessages.test(String(Reflect.get(thrown, 'message')));
}
