import { createServer } from 'node:net';
import { startInternalServer } from './internal-server.js';

/** Linux routes every address of 127.0.0.0/8 to this machine. */
const otherLocalAddress = '127.0.0.2';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}

const statusAt = async (host: string, port: number): Promise<number | undefined> =>
  fetch(`http://${host}:${port}/metrics`).then(
    ({ status }) => status,
    () => undefined,
  );

describe('the internal server', () => {
  it('listens on the address of INTERNAL_HOST only', async () => {
    const port = await freePort();
    const server = await startInternalServer({ host: '127.0.0.1', port });
    try {
      expect(await statusAt('127.0.0.1', port)).toBe(200);
      expect(await statusAt(otherLocalAddress, port)).toBeUndefined();
    } finally {
      await server.close();
    }
  });

  it('listens on every address when INTERNAL_HOST is 0.0.0.0', async () => {
    const port = await freePort();
    const server = await startInternalServer({ host: '0.0.0.0', port });
    try {
      expect(await statusAt(otherLocalAddress, port)).toBe(200);
    } finally {
      await server.close();
    }
  });
});
