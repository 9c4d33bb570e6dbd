/** Outcomes of an exchange. The owner of the URL sees them, so they reveal nothing about this network. */
export const outcomes = [
  'succeeded',
  'http_error',
  'timeout',
  'dns_error',
  'tls_error',
  'connection_failed',
  'blocked_address',
  'redirect_not_followed',
] as const;
export type Outcome = (typeof outcomes)[number];

/** Thrown instead of a connection to an address that is not allowed. */
export class BlockedAddress extends Error {
  override readonly name = 'BlockedAddress';
  constructor() {
    super('The address is blocked.');
  }
}

export function outcomeOfStatus(statusCode: number): Outcome {
  if (statusCode >= 200 && statusCode < 300) return 'succeeded';
  return statusCode >= 300 && statusCode < 400 ? 'redirect_not_followed' : 'http_error';
}

const timeoutCodes = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);
// The name does not exist or has no address: caused by the remote side.
const nameNotFoundCodes = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EAI_NODATA', 'EAI_NONAME']);
// This machine lacks files, ports, memory or a network. EHOSTUNREACH comes from a remote router instead.
const localErrorCodes = new Set([
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'EADDRNOTAVAIL',
  'ENETDOWN',
  'ENETUNREACH',
]);
// c-ares and getaddrinfo (node:dns error codes).
const dnsCodes = new Set([
  'ENOTFOUND',
  'ENODATA',
  'ESERVFAIL',
  'EREFUSED',
  'EFORMERR',
  'ENOTIMP',
  'EBADNAME',
  'EBADRESP',
  'ETIMEOUT',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
  'EAI_NONAME',
  'ECANCELLED',
]);
// Codes of Node's TLS errors and of OpenSSL's checks of certificates; EPROTO is a failed handshake.
const tlsCodes =
  /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|EPROTO$|ERROR_IN_CERT|INVALID_CA|HOSTNAME_MISMATCH|INVALID_PURPOSE)/;

export function outcomeOfError(error: Error): Outcome {
  if (error instanceof BlockedAddress) return 'blocked_address';
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code !== 'string') return 'connection_failed';
  if (timeoutCodes.has(code)) return 'timeout';
  if (isDnsError(error, code)) return 'dns_error';
  return tlsCodes.test(code) ? 'tls_error' : 'connection_failed';
}

/**
 * Whether an error was caused by this machine or its name server, so that it says nothing about the remote
 * server. A name whose authoritative servers are broken looks the same and counts as a local error as well.
 */
export function isLocalError(error: Error): boolean {
  // For a host with several addresses, every attempt must have failed for a local reason.
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.every((cause: unknown) => cause instanceof Error && isLocalError(cause));
  }
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code !== 'string') return false;
  return localErrorCodes.has(code) || (isDnsError(error, code) && !nameNotFoundCodes.has(code));
}

/**
 * Whether name resolution failed. The syscall shows it where the code does not: ECONNREFUSED of a query, for
 * example, means that the name server is unreachable.
 */
function isDnsError(error: Error, code: string): boolean {
  const syscall: unknown = Reflect.get(error, 'syscall');
  return dnsCodes.has(code) || (typeof syscall === 'string' && /^(getaddrinfo$|query)/.test(syscall));
}
