import type { IncomingMessage, ServerResponse } from 'node:http';

/** A complete response that is sent without Express. */
export interface PlainResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends a response. Headers that are already set stay. */
export function sendPlain(response: ServerResponse, { status, headers, body }: PlainResponse): void {
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

export function jsonResponse(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: object,
): PlainResponse {
  return {
    status,
    headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify(body),
  };
}

/**
 * The address of the gateway's client: the last in `X-Forwarded-For`, as Express' `request.ip` with one
 * trusted proxy.
 */
export function callerAddress(request: IncomingMessage): string {
  const forwarded = String(request.headers['x-forwarded-for'] ?? '');
  const last = forwarded.slice(forwarded.lastIndexOf(',') + 1).trim();
  return last === '' ? (request.socket.remoteAddress ?? 'unknown') : last;
}
