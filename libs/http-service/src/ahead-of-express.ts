import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Answers a request, or leaves it to Express. */
export type Ahead = (request: IncomingMessage, response: ServerResponse, express: () => void) => void;

/**
 * Shows every request to `ahead` before Express. Express gives requests and answers other prototypes, which makes all that is done with
 * them slower, and goes through its layers one by one: what needs neither is better done before (ADR 20).
 */
export function putAheadOfExpress(server: Server, ahead: Ahead): void {
  const listeners = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    ahead(request, response, () => {
      for (const listener of listeners) Reflect.apply(listener, server, [request, response]);
    }),
  );
}
