import { PayloadTooLarge } from '@fulfilment/error-envelope';
import type { IncomingMessage } from 'node:http';
import { isReadableJson, isReadableWhenDecoded } from '../requests/unreadable-text.js';

const maxBodyBytes = 56 * 1024; // oidc-provider reads no more

/** Changes a form before oidc-provider reads it. */
export type FormChange = (request: IncomingMessage, form: Buffer) => Buffer;

/**
 * Reads a body once, by the cheapest way there is, and hands it to oidc-provider through the iterator by which it reads every body:
 * no endpoint or parameter can be forgotten. What the iterator throws it takes for a body it cannot parse, and answers
 * `invalid_request`: so it does to text nobody can read.
 * @throws PayloadTooLarge
 */
export async function readBody(request: IncomingMessage, change?: FormChange): Promise<void> {
  const { 'content-length': length, 'transfer-encoding': chunked } = request.headers;
  if (length === undefined && chunked === undefined) return;
  if (Number(length) > maxBodyBytes) throw new PayloadTooLarge(maxBodyBytes);
  const body = await received(request);
  const isForm = request.headers['content-type']?.includes('x-www-form-urlencoded') === true;
  if (change === undefined || !isForm || body instanceof Error) return hand(request, body);
  const changed = change(request, body);
  request.headers['content-length'] = String(changed.length);
  delete request.headers['transfer-encoding'];
  hand(request, changed);
}

function received(request: IncomingMessage): Promise<Buffer | Error> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    const onData = (part: Buffer): void => {
      bytes += part.length;
      parts.push(part);
      if (bytes <= maxBodyBytes) return;
      request.off('data', onData).off('end', onEnd).pause();
      reject(new PayloadTooLarge(maxBodyBytes));
    };
    const onEnd = (): void => {
      const body = Buffer.concat(parts);
      resolve(isReadableBody(request, body) ? body : new TypeError('The body is not readable text.'));
    };
    request.on('data', onData).on('end', onEnd);
  });
}

function hand(request: IncomingMessage, body: Buffer | Error): void {
  Object.defineProperty(request, 'readable', { configurable: true, value: true });
  Object.defineProperty(request, 'iterator', {
    configurable: true,
    value: () => {
      if (body instanceof Error) throw body;
      return [body];
    },
  });
}

function isReadableBody({ headers }: IncomingMessage, body: Buffer): boolean {
  if (headers['content-type']?.includes('json') !== true) return isReadableWhenDecoded(body);
  try {
    return isReadableJson(body);
  } catch {
    return true; // no JSON at all: oidc-provider says so
  }
}
