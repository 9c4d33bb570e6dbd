/**
 * Transient SQLSTATEs: connection failures, too many connections, shutdown, start-up, deadlocks and timeouts.
 */
const transientSqlStates = /^(08|53|57P0|57014|40P01|40001|55P03)/;
const transientCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const transientMessages =
  /timeout exceeded when trying to connect|timeout expired|Query read timeout|Connection terminated|connection is closed/i;

/** Whether a dependency was unavailable, so that a retry may succeed. */
export function isOutage(thrown: unknown): boolean {
  // Checks members instead of the class: in tests, Node's errors come from another realm.
  if (typeof thrown !== 'object' || thrown === null) return false;
  const code: unknown = Reflect.get(thrown, 'code');
  if (typeof code === 'string' && (transientCodes.has(code) || transientSqlStates.test(code))) return true;
  return transientMessages.test(String(Reflect.get(thrown, 'message')));
}
