import { PayloadTooLarge, ValidationFailed } from '@fulfilment/error-envelope';
import type { IncomingMessage } from 'node:http';
import { decodesToStorableText, isAcceptableJson } from '../../http/storable-text.js';

const maxBodyBytes = 56 * 1024; // oidc-provider reads no more
// Like oidc-provider: in any case, and with any parameters.
const formType = /^application\/x-www-form-urlencoded\s*(;|$)/i;
const jsonType = /^application\/json\s*(;|$)/i;
const rejectedBodyText =
  'The request body contains invalid text, or JSON that is too deep or has too many members.';

/**
 * Reads the body of a request. Returns undefined without a body, and an Error for an invalid one: `passBody`
 * passes it to oidc-provider, which responds with the headers of the endpoint.
 * @throws PayloadTooLarge, and ValidationFailed when the client disconnects; oidc-provider gets neither
 */
export async function receiveBody(request: IncomingMessage): Promise<Buffer | Error | undefined> {
  const { 'content-length': length, 'transfer-encoding': transferEncoding } = request.headers;
  if (length === undefined && transferEncoding === undefined) return undefined;
  if (Number(length) > maxBodyBytes) throw new PayloadTooLarge(maxBodyBytes);
  return receiveAll(request);
}

/** Returns a received body if it is a form. */
export function formOf(request: IncomingMessage, body: Buffer | Error | undefined): Buffer | undefined {
  const isForm = formType.test(request.headers['content-type'] ?? '');
  return isForm && Buffer.isBuffer(body) ? body : undefined;
}

/** Passes a form to oidc-provider that may differ from the one in the request. */
export function passForm(request: IncomingMessage, form: Buffer): void {
  request.headers['content-length'] = String(form.length);
  delete request.headers['transfer-encoding'];
  passBody(request, form);
}

/**
 * Passes a body to oidc-provider through the iterator with which it reads every body that is `readable`
 * (oidc-provider/lib/shared/selective_body.js), so that no endpoint or parameter is missed. When the iterator
 * throws, oidc-provider responds with `invalid_request`.
 */
export function passBody(request: IncomingMessage, body: Buffer | Error): void {
  Object.defineProperty(request, 'readable', { configurable: true, value: true });
  Object.defineProperty(request, 'iterator', {
    configurable: true,
    value: () => {
      if (body instanceof Error) throw body;
      return [body];
    },
  });
}

function receiveAll(request: IncomingMessage): Promise<Buffer | Error> {
  return new Promise((resolve, reject) => {
    const onClose = (): void => reject(new ValidationFailed([], 'The client disconnected.'));
    if (request.destroyed) return onClose(); // the client disconnected earlier, so `close` is not emitted
    const parts: Buffer[] = [];
    let bytes = 0;
    const onData = (part: Buffer): void => {
      bytes += part.length;
      parts.push(part);
      if (bytes <= maxBodyBytes) return;
      request.off('data', onData).off('end', onEnd).off('close', onClose).pause();
      reject(new PayloadTooLarge(maxBodyBytes));
    };
    const onEnd = (): void => {
      request.off('close', onClose);
      const body = Buffer.concat(parts);
      resolve(isAcceptableBody(request, body) ? body : new TypeError(rejectedBodyText));
    };
    request.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

function isAcceptableBody({ headers }: IncomingMessage, body: Buffer): boolean {
  if (!jsonType.test(headers['content-type'] ?? '')) return decodesToStorableText(body);
  try {
    return isAcceptableJson(body);
  } catch {
    return true; // not JSON: oidc-provider rejects it
  }
}
