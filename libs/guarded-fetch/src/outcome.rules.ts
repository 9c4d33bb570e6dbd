/** How an exchange with a stranger's server ended, as coarse as it may be told to whoever named the server. */
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

/** The address is one nobody may make us talk to. */
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

const timeoutCodes = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);
// The name's own doing: there is none, or it has no address.
const nameCodes = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EAI_NODATA', 'EAI_NONAME']);
// We are out of files, ports or memory, or have no network. EHOSTUNREACH is not among them: a router near the host says it.
const ownCodes = new Set([
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
const tlsCodes =
  /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|EPROTO$|ERROR_IN_CERT|INVALID_CA|HOSTNAME_MISMATCH|INVALID_PURPOSE)/;

export function outcomeOfError(error: Error): Outcome {
  if (error instanceof BlockedAddress) return 'blocked_address';
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code !== 'string') return 'connection_failed';
  if (timeoutCodes.has(code)) return 'timeout';
  if (isOfDns(error, code)) return 'dns_error';
  return tlsCodes.test(code) ? 'tls_error' : 'connection_failed';
}

/**
 * Whether an error says nothing about the other side: our name server did not answer for the name, or our own machine refused. A name
 * whose own servers are broken looks the same from here, and is taken for ours as well.
 */
export function isOurFault(error: Error): boolean {
  // Of a host with several addresses, all must have failed because of us.
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.every((each: unknown) => each instanceof Error && isOurFault(each));
  }
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code !== 'string') return false;
  return ownCodes.has(code) || (isOfDns(error, code) && !nameCodes.has(code));
}

/** c-ares says ECONNREFUSED, too, when it reaches no name server. */
function isOfDns(error: Error, code: string): boolean {
  const syscall: unknown = Reflect.get(error, 'syscall');
  return dnsCodes.has(code) || (typeof syscall === 'string' && /^(getaddrinfo$|query)/.test(syscall));
}
