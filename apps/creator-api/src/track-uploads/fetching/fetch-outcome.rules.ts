import type { Exchange } from '@fulfilment/guarded-fetch';
import { permanentProblem, transientProblem, type UploadProblem } from '../upload-failure.rules.js';

/** Transient client error statuses (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4). */
const transientStatuses = new Set([408, 425, 429]);
const identityEncodings = new Set([undefined, '', 'identity']);

type FetchResult = Pick<Exchange, 'outcome' | 'statusCode' | 'headers' | 'complete' | 'abortReason'> & {
  /** Number of received bytes of the file. */
  readonly bytes: number;
};

/** Whether a response with these headers may be the file. It may still turn out to be too large. */
export function mayContainFile(
  statusCode: number,
  headers: FetchResult['headers'],
  maxBytes: number,
): boolean {
  return statusCode === 200 && !isCompressed(headers) && !statesMoreThan(maxBytes, headers);
}

/** Returns why the fetch failed, or undefined if the file is complete. */
export function fetchProblem(download: FetchResult, maxBytes: number): UploadProblem | undefined {
  const { outcome, statusCode = 0 } = download;
  switch (outcome) {
    case 'succeeded':
      return responseProblem(download, maxBytes);
    case 'http_error': {
      const isTransient = statusCode >= 500 || transientStatuses.has(statusCode);
      const makeProblem = isTransient ? transientProblem : permanentProblem;
      return makeProblem(outcome, `The server responded with ${statusCode}.`);
    }
    case 'redirect_not_followed':
      return permanentProblem(
        outcome,
        `The server responded with ${statusCode}. Redirects are not followed; register the final URL.`,
      );
    case 'blocked_address':
      return permanentProblem(outcome, 'The host name resolves to a private or reserved address.');
    case 'tls_error':
      return permanentProblem(
        outcome,
        'The TLS connection failed, for example because the certificate of the server is not valid.',
      );
    case 'dns_error':
      return transientProblem(outcome, 'The host name could not be resolved.');
    case 'timeout':
      return transientProblem(outcome, 'The server did not respond in time.');
    case 'connection_failed':
      return transientProblem(outcome, 'The connection to the server failed.');
  }
}

function responseProblem(
  { statusCode = 0, headers, complete, abortReason, bytes }: FetchResult,
  maxBytes: number,
): UploadProblem | undefined {
  if (statusCode !== 200)
    return permanentProblem('http_error', `The server responded with ${statusCode} instead of 200.`);
  if (isCompressed(headers))
    return permanentProblem(
      'compressed',
      'The server sent the file with a Content-Encoding that was not requested.',
    );
  if (bytes > maxBytes || statesMoreThan(maxBytes, headers))
    return permanentProblem('too_large', `The file is larger than ${maxBytes} bytes.`);
  // Permanent, since a retry would occupy a slot for as long. The client can register the upload again.
  if (abortReason === 'slow' || abortReason === 'deadline')
    return permanentProblem('too_slow', 'The download was too slow.');
  if (!complete)
    return transientProblem('connection_failed', 'The connection closed before the end of the file.');
  return bytes === 0 ? permanentProblem('empty', 'The file is empty.') : undefined;
}

/** False without a `Content-Length`. */
function statesMoreThan(maxBytes: number, headers: FetchResult['headers']): boolean {
  return Number(headers['content-length']) > maxBytes;
}

function isCompressed(headers: FetchResult['headers']): boolean {
  return !identityEncodings.has(headers['content-encoding']?.trim().toLowerCase());
}
