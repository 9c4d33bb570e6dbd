import type { IncomingMessage, ServerResponse } from 'node:http';

/** An answer whole, as it is sent without Express. */
export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Headers that were set before stay. */
export function sendPlain(response: ServerResponse, { status, headers, body }: PlainAnswer): void {
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

export function jsonAnswer(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: object,
): PlainAnswer {
  return {
    status,
    headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify(body),
  };
}

/** The address the gateway had the request from: the last in `X-Forwarded-For`, as Express' `request.ip` with one trusted proxy. */
export function callerAddress(request: IncomingMessage): string {
  const forwarded = String(request.headers['x-forwarded-for'] ?? '');
  const last = forwarded.slice(forwarded.lastIndexOf(',') + 1).trim();
  return last === '' ? (request.socket.remoteAddress ?? 'unknown') : last;
}
