import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Handles a request before Express, or passes it on. */
export type RawHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  passToExpress: () => void,
) => void;

/**
 * Passes every request to `handler` before Express, which walks through its layers one by one. Code that does
 * not need Express runs before it (ADR 20, ADR 60).
 */
export function handleBeforeExpress(server: Server, handler: RawHandler): void {
  const listeners = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    handler(request, response, () => {
      for (const listener of listeners) Reflect.apply(listener, server, [request, response]);
    }),
  );
}

/** A complete response, sent without Express' `response.send`. */
export interface RenderedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends a response. Headers that are already set stay, unless the response has one of the same name. */
export function sendRendered(response: ServerResponse, { status, headers, body }: RenderedResponse): void {
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

export function jsonResponse(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: object,
): RenderedResponse {
  return {
    status,
    headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify(body),
  };
}

/** The address of the gateway's client: the last of `X-Forwarded-For`, like `request.ip` of Express. */
export function callerAddress(request: IncomingMessage): string {
  const forwarded = String(request.headers['x-forwarded-for'] ?? '');
  const last = forwarded.slice(forwarded.lastIndexOf(',') + 1).trim();
  return last === '' ? (request.socket.remoteAddress ?? 'unknown') : last;
}
