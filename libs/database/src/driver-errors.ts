import { DependencyUnavailable } from '@fulfilment/error-envelope';
import { isNativeError } from 'node:util/types';
import { DatabaseError } from 'pg';

/**
 * Transient SQLSTATEs: connection failures, a server that is no longer the primary, insufficient resources,
 * shutdown, start-up, deadlocks, serialisation failures and timeouts.
 */
const transientSqlStates = /^(08|25006|53|57P0|57014|40P01|40001|55P03)/;
const readOnlyTransaction = '25006';
/** Names of timeouts. Either an outage or a slow statement may cause one. */
const timeoutNames: ReadonlyMap<string, string> = new Map([
  ['57014', 'statement timeout'],
  ['55P03', 'lock timeout'],
]);

/**
 * Whether the connection failed, so that no response will arrive on it. pg throws a `DatabaseError` for an
 * error response of the server; for a failed connection it throws a plain error, or one of Node's sockets.
 */
export function isConnectionFailure(error: unknown): boolean {
  return (
    isNativeError(error) &&
    !(error instanceof DatabaseError) &&
    (error.name === 'Error' || error.name === 'AggregateError')
  );
}

/** Whether a write failed because the server is read-only, as after a failover. */
export function isReadOnlyServer(error: unknown): boolean {
  return hasSqlState(error, [readOnlyTransaction]);
}

/** @throws DependencyUnavailable if a retry may succeed, otherwise the error itself */
export function translateAndThrow(error: unknown): never {
  if (isConnectionFailure(error) || transientSqlStates.test(responseOf(error)?.code ?? ''))
    throw new DependencyUnavailable('PostgreSQL is unavailable, or ended a statement early.', {
      cause: error,
    });
  throw error;
}

/** Whether the server reports a failed statement, so nothing was committed. FATAL leaves the outcome open. */
export function isErrorResponse(error: unknown): boolean {
  return responseOf(error)?.severity === 'ERROR';
}

/** Whether the server responded with an error of one of these SQLSTATEs. */
export function hasSqlState(error: unknown, codes: readonly string[]): boolean {
  return codes.includes(responseOf(error)?.code ?? '');
}

/**
 * Whether a connection pooler rejected a start-up parameter. PgBouncer uses one SQLSTATE for all of its
 * errors, so only the message distinguishes this one.
 */
export function isRejectedStartupParameter(error: unknown): boolean {
  return responseOf(error)?.message.startsWith('unsupported startup parameter') ?? false;
}

/** Returns the name of the timeout that ended a statement, if one did. */
export function timeoutName(error: unknown): string | undefined {
  return timeoutNames.get(responseOf(error)?.code ?? '');
}

function responseOf(error: unknown): DatabaseError | undefined {
  const response: unknown = error instanceof DependencyUnavailable ? error.cause : error;
  return response instanceof DatabaseError ? response : undefined;
}
