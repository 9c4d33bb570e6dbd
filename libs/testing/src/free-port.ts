import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those from which Linux and macOS give connections theirs (32768, 49152), and away from the suite's own. */
const [first, end] = [12_000, 18_000];
const reservations: Socket[] = [];

/**
 * A loopback port that nobody listens on, and that nobody else is given while these tests run. Of those that connections get none would do:
 * whoever starts a process on it listens a second later, and by then one of the thousands of a test run may have it.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(first, end);
  const reservation = createSocket('udp4').unref();
  const server = createServer();
  try {
    // UDP's ports are others than TCP's: holding one keeps every process that asks here away from its namesake, and ends with this process.
    reservation.bind({ port, address: '127.0.0.1', exclusive: true });
    await once(reservation, 'listening');
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    reservation.close();
    return freePort(); // somebody's
  }
  reservations.push(reservation);
  server.close();
  await once(server, 'close');
  return port;
}
