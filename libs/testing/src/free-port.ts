import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those from which Linux and macOS give connections theirs (32768, 49152), and away from the suite's own. */
const [first, end] = [12_000, 18_000];

/**
 * A loopback port that nobody listens on. Of those that connections get none would do: whoever starts a process on it
 * listens a second later, and by then one of the thousands of a test run may have it.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(first, end);
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return freePort(); // somebody's
  }
  server.close();
  await once(server, 'close');
  return port;
}
