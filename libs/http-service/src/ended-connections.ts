import type { Server, ServerResponse } from 'node:http';

/**
 * Ends each connection with its answer once the server is closing. Node ends those that are idle when it begins to close; one with a request
 * in hand would live on for `keepAliveTimeout`, take further requests, and hold up the end of the process.
 */
export function endConnectionWhenClosing(server: Server, response: ServerResponse): void {
  if (!server.listening) response.setHeader('Connection', 'close');
  else
    response.once('finish', () => {
      if (!server.listening) setImmediate(() => server.closeIdleConnections());
    });
}
