import { fetchTrusting } from '@fulfilment/testing';
import { certificateAuthority } from './the-suite.js';

/** Opened by the first request. */
let connections: ReturnType<typeof fetchTrusting> | undefined;

/** Fetches over HTTPS from the gateway, trusting the suite's certificate authority. */
export const fetchFromSuite: typeof fetch = (input, init) => {
  connections ??= fetchTrusting(certificateAuthority);
  return connections.fetch(input, init);
};

/** Closes the connections that were kept open. The next request opens new ones. */
export async function closeConnections(): Promise<void> {
  const open = connections;
  connections = undefined;
  await open?.close();
}
