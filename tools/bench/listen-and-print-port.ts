import { listen } from '@fulfilment/testing/listen';
import type { Server } from 'node:http';

/** Listens on a free port, and prints it as a line of JSON for `ServedProcess.origin`. */
export async function listenAndPrintPort(server: Server): Promise<void> {
  const { port } = await listen(server);
  console.log(JSON.stringify({ port }));
}
