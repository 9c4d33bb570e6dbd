import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Handles a request before Express, or passes it on by calling `express`. */
export type RawHandler = (request: IncomingMessage, response: ServerResponse, express: () => void) => void;

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
