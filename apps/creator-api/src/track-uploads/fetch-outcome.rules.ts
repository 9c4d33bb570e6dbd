import type { Exchange } from '@fulfilment/guarded-fetch';
import { forGood, forNow, type UploadProblem } from './upload-failure.rules.js';

/** Statuses of a server that has it, but not now (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4). */
const passingStatuses = new Set([408, 425, 429]);
const encodingsOfNothing = new Set([undefined, '', 'identity']);

export type Fetch = Pick<Exchange, 'outcome' | 'statusCode' | 'headers' | 'complete' | 'abortReason'> & {
  /** How many bytes of the file came. */
  readonly bytes: number;
};

/** Whether such an answer can be the file. Its size may still turn out too large. */
export function holdsFile(statusCode: number, headers: Fetch['headers'], mostBytes: number): boolean {
  return statusCode === 200 && !isCompressed(headers) && !(Number(headers['content-length']) > mostBytes);
}

/** Why a fetch did not bring the whole file, or undefined when it did. */
export function fetchProblem(fetch: Fetch, mostBytes: number): UploadProblem | undefined {
  const { outcome, statusCode = 0 } = fetch;
  switch (outcome) {
    case 'succeeded':
      return answerProblem(fetch, mostBytes);
    case 'http_error':
      return (statusCode >= 500 || passingStatuses.has(statusCode) ? forNow : forGood)(
        'http_error',
        `The server responded with ${statusCode}.`,
      );
    case 'redirect_not_followed':
      return forGood(
        outcome,
        `The server responded with ${statusCode}. Redirects are not followed; register the final URL.`,
      );
    case 'blocked_address':
      return forGood(outcome, 'The host name resolves to a private or reserved address.');
    case 'tls_error':
      return forGood(outcome, 'The certificate of the server was not accepted.');
    case 'dns_error':
      return forNow(outcome, 'The host name could not be resolved.');
    case 'timeout':
      return forNow(outcome, 'The server did not respond in time.');
    case 'connection_failed':
      return forNow(outcome, 'The connection to the server failed.');
  }
}

function answerProblem(fetch: Fetch, mostBytes: number): UploadProblem | undefined {
  const { statusCode = 0, headers, complete, abortReason, bytes } = fetch;
  if (statusCode !== 200)
    return forGood('http_error', `The server responded with ${statusCode} instead of 200.`);
  if (isCompressed(headers))
    return forGood('compressed', 'The server sent the file with a Content-Encoding that was not requested.');
  if (bytes > mostBytes || Number(headers['content-length']) > mostBytes)
    return forGood('too_large', `The file is larger than ${mostBytes} bytes.`);
  // Again it would hold a place for as long: whoever has it come faster registers it anew.
  if (abortReason === 'slow' || abortReason === 'deadline')
    return forGood('too_slow', 'The download was too slow.');
  if (!complete) return forNow('connection_failed', 'The connection closed before the end of the file.');
  return bytes === 0 ? forGood('empty', 'The file is empty.') : undefined;
}

function isCompressed(headers: Fetch['headers']): boolean {
  return !encodingsOfNothing.has(headers['content-encoding']?.trim().toLowerCase());
}
