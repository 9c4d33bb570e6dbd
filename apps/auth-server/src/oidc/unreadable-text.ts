import { ValidationFailed } from '@fulfilment/error-envelope';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';

const escapes = /%([0-9a-f]{2})/gi;
const maxBodyBytes = 56 * 1024; // oidc-provider reads no more

/** Text PostgreSQL has no place for: U+0000 and halves of surrogate pairs. */
export function isReadable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Whether text written in a URL or form, `%XX` and all, is UTF-8 without U+0000. */
export function isReadableWhenDecoded(encoded: Buffer | string): boolean {
  const text = typeof encoded === 'string' ? encoded : encoded.toString('latin1');
  const bytes = Buffer.from(text.replace(escapes, byteOf), 'latin1');
  return isUtf8(bytes) && !bytes.includes(0);
}

/** Refuses paths and queries nobody can read, before anything looks at them. */
export function refuseUnreadableAddress(
  refuse: (error: unknown, request: Request, response: Response, next: NextFunction) => void,
): RequestHandler {
  return (request, response, next) => {
    if (isReadableWhenDecoded(request.url)) return next();
    const problem = new ValidationFailed([{ field: 'path', reason: 'malformed_encoding' }]);
    refuse(problem, request, response, next);
  };
}

/**
 * Makes oidc-provider answer `invalid_request` to a body nobody can read. It reads every body through the request's iterator and
 * takes what that throws for a body it cannot parse: no endpoint or parameter can be forgotten.
 */
export function refuseUnreadableBodies(request: Request, _response: Response, next: NextFunction): void {
  const read = request.iterator.bind(request);
  const isJson = typeof request.is('json') === 'string';
  Object.defineProperty(request, 'iterator', {
    value: (options: { destroyOnReturn?: boolean }) => Readable.from(checked(read(options), isJson)),
  });
  next();
}

async function* checked(chunks: AsyncIterable<unknown>, isJson: boolean): AsyncGenerator<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    if (!Buffer.isBuffer(chunk)) continue;
    parts.push(chunk);
    length += chunk.length;
    if (length > maxBodyBytes) break; // refused for its size
  }
  const body = Buffer.concat(parts);
  if (!(isJson ? isReadableJson(body) : isReadableWhenDecoded(body)))
    throw new TypeError('The body is not readable text.');
  yield body;
}

function isReadableJson(body: Buffer): boolean {
  if (!isUtf8(body)) return false;
  let readable = true;
  JSON.parse(body.toString(), (name: string, value: unknown) => {
    readable &&= isReadable(name) && (typeof value !== 'string' || isReadable(value));
    return value;
  });
  return readable;
}

function byteOf(_escape: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}
