import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral ports of Linux and macOS (from 32768 and 49152), outside the ports of the suite. */
const [firstPort, endPort] = [12_000, 18_000];
const reservations: Socket[] = [];

/**
 * Reserves a free loopback port for this test process. Ephemeral ports would be unsafe: the process under
 * test listens only a second later, when one of the many connections of a test run may use the port.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(firstPort, endPort);
  const reservation = createSocket('udp4').unref();
  const server = createServer();
  try {
    // Binding the same UDP port reserves the TCP port among callers, until this process ends.
    reservation.bind({ port, address: '127.0.0.1', exclusive: true });
    await once(reservation, 'listening');
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    reservation.close();
    return freePort(); // already in use
  }
  reservations.push(reservation);
  server.close();
  await once(server, 'close');
  return port;
}
