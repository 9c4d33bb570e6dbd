import { BlockedAddress, isLocalError, outcomeOfError, outcomeOfStatus } from './outcome.rules.js';

const errorWith = (code: string, syscall?: string): Error =>
  Object.assign(new Error(code), { code, syscall });

const errors = [
  ['timeout', false, 'UND_ERR_CONNECT_TIMEOUT ETIMEDOUT'],
  ['dns_error', false, 'ENOTFOUND ENODATA EBADNAME EAI_NODATA EAI_NONAME'],
  ['dns_error', true, 'ESERVFAIL EREFUSED EFORMERR ENOTIMP EBADRESP ETIMEOUT EAI_AGAIN EAI_FAIL ECANCELLED'],
  [
    'tls_error',
    false,
    'ERR_TLS_CERT_ALTNAME_INVALID ERR_SSL_WRONG_VERSION_NUMBER CERT_HAS_EXPIRED EPROTO INVALID_CA ' +
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE SELF_SIGNED_CERT_IN_CHAIN DEPTH_ZERO_SELF_SIGNED_CERT ' +
      'ERROR_IN_CERT_NOT_BEFORE_FIELD HOSTNAME_MISMATCH INVALID_PURPOSE',
  ],
  ['connection_failed', true, 'EMFILE ENFILE ENOBUFS ENOMEM EADDRNOTAVAIL ENETDOWN ENETUNREACH'],
  ['connection_failed', false, 'ECONNREFUSED ECONNRESET EHOSTUNREACH EPIPE UND_ERR_SOCKET'],
] as const;

describe('the outcome of an exchange', () => {
  it.each([
    [199, 'http_error'],
    [200, 'succeeded'],
    [299, 'succeeded'],
    [300, 'redirect_not_followed'],
    [399, 'redirect_not_followed'],
    [400, 'http_error'],
  ])('with the status %d is %s', (statusCode, outcome) => {
    expect(outcomeOfStatus(statusCode)).toBe(outcome);
  });

  it.each(
    errors.flatMap(([outcome, isLocal, codes]) =>
      codes.split(' ').map((code) => ({ code, outcome, isLocal })),
    ),
  )('with the error $code is $outcome, caused by this machine: $isLocal', ({ code, outcome, isLocal }) => {
    const error = errorWith(code, 'connect');
    expect([outcomeOfError(error), isLocalError(error)]).toEqual([outcome, isLocal]);
  });

  it.each(['queryA', 'getaddrinfo'])('is dns_error for any error of %s', (syscall) => {
    const error = errorWith('ECONNREFUSED', syscall);
    expect([outcomeOfError(error), isLocalError(error)]).toEqual(['dns_error', true]);
  });

  it('is blocked_address for a blocked address, and connection_failed for an error without a code', () => {
    expect(outcomeOfError(new BlockedAddress())).toBe('blocked_address');
    expect([outcomeOfError(new Error()), isLocalError(new Error())]).toEqual(['connection_failed', false]);
  });
});

describe('the error of a host with several addresses', () => {
  const [local, remote] = [errorWith('ENETUNREACH', 'connect'), errorWith('ECONNREFUSED', 'connect')];

  it.each([
    ['each failed for a local reason', true, [local, local]],
    ['the only one failed for a local reason', true, [local]],
    ['one failed for a remote reason', false, [local, remote]],
    ['one failed without an Error', false, [local, 'failed']],
  ])('of which %s is local: %s', (_, expected, causes) => {
    expect(isLocalError(new AggregateError(causes))).toBe(expected);
  });

  it('is classified by its own code when it has no causes', () => {
    expect(isLocalError(Object.assign(new AggregateError([]), { code: 'ENETUNREACH' }))).toBe(true);
    expect(isLocalError(Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }))).toBe(false);
  });
});
