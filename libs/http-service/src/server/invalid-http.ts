import { toErrorResponse, ValidationFailed } from '@fulfilment/error-envelope';
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { currentResponse } from './close-connections.js';

/** HTTP status by the code of Node's error; 400 for other codes. */
const statusesOfInvalidHttp: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Responds to what Node's parser rejects: unknown methods, and malformed, large or incomplete headers. */
export function respondToInvalidHttp(error: Error, socket: Duplex): void {
  if (!socket.writable || currentResponse(socket) !== undefined) {
    socket.destroy(); // a second response would become part of the one in progress
    return;
  }
  const status = statusesOfInvalidHttp[String(Reflect.get(error, 'code'))] ?? 400;
  const { body } = toErrorResponse(
    new ValidationFailed([{ field: 'request', reason: 'malformed' }], 'The request is not valid HTTP.'),
  );
  const name = STATUS_CODES[status] ?? '';
  const text = JSON.stringify({ ...body, statusCode: status, error: name });
  socket.end(
    [
      `HTTP/1.1 ${status} ${name}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(text)}`,
      `X-Request-Id: ${randomUUID()}`,
      'Connection: close',
      '',
      text,
    ].join('\r\n'),
  );
}
