import type { Server } from 'node:http';

/** Listens on a free port of this machine, and prints it as a line of JSON for `ServedProcess.origin`. */
export function listenAndPrintPort(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    console.log(JSON.stringify({ port: typeof address === 'object' ? address?.port : undefined }));
  });
}
