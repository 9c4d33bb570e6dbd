import { type Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

const lastRequestsWithinMs = 1_000;

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

/**
 * A moment after the server began to close, ends the connections that have no whole request: Node takes those that never sent one, or
 * are within a head or a body, for busy, and waits for them as long as for any.
 */
export function endSilentConnectionsWhenClosing(server: Server): void {
  const open = new Set<Duplex>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const close = server.close.bind(server);
  server.close = (callback) => {
    setTimeout(() => {
      for (const socket of open) if (answerUnderWay(socket)?.req.complete !== true) socket.destroy();
    }, lastRequestsWithinMs).unref();
    return close(callback);
  };
}

/** The answer that the connection is about. Node tells nobody but in this field. */
export function answerUnderWay(socket: Duplex): ServerResponse | undefined {
  const message: unknown = Reflect.get(socket, '_httpMessage');
  return message instanceof ServerResponse ? message : undefined;
}
