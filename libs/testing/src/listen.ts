import { Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';

/** Listens on a port, by default a free one that only this machine can reach. */
export function listen(
  server: Server,
  port = 0,
  host = '127.0.0.1',
): Promise<{ port: number; close: () => Promise<void> }> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      if (address === null || typeof address === 'string')
        return reject(new Error('The server has no port.'));
      resolve({
        port: address.port,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            if (server instanceof HttpServer) server.closeAllConnections();
          }),
      });
    });
  });
}
