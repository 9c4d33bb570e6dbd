import { type Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

const silentTimeoutMs = 1_000;
/** An order takes little more than 15 s. A shutdown has 20 s, also for messages and background tasks. */
const requestTimeoutMs = 17_000;

/**
 * Closes a connection after its response if the server is closing. Node itself closes only connections that
 * are idle when `close` is called. A connection with a request in progress would stay open for
 * `keepAliveTimeout`, accept further requests and delay the end of the process.
 */
export function endConnectionWhenClosing(server: Server, response: ServerResponse): void {
  if (!server.listening) response.setHeader('Connection', 'close');
  else
    response.once('finish', () => {
      if (!server.listening) setImmediate(() => server.closeIdleConnections());
    });
}

/**
 * Closes connections without a complete request one second after `close`: Node treats connections that sent
 * nothing, or part of a head or body, as busy and waits for them. Closes all others, such as downloads, after
 * the time of the longest request.
 */
export function limitConnectionsWhenClosing(server: Server): void {
  const open = new Set<Duplex>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const close = server.close.bind(server);
  server.close = (callback) => {
    setTimeout(() => {
      for (const socket of open) if (currentResponse(socket)?.req.complete !== true) socket.destroy();
    }, silentTimeoutMs).unref();
    setTimeout(() => server.closeAllConnections(), requestTimeoutMs).unref();
    return close(callback);
  };
}

/** The response in progress on a connection. Node has it only in this undocumented field. */
export function currentResponse(socket: Duplex): ServerResponse | undefined {
  const message: unknown = Reflect.get(socket, '_httpMessage');
  return message instanceof ServerResponse ? message : undefined;
}
