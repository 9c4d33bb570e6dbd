import { Client } from 'undici';

/**
 * Posts a form `count` times so that all requests reach the server before it reads the first one: over
 * connections that are already open, in one iteration of the event loop that the server shares.
 * @param openingPath path of the GET request that opens each connection
 */
export async function sendConcurrently(
  origin: string,
  count: number,
  { openingPath, path, form }: { openingPath: string; path: string; form: Readonly<Record<string, string>> },
): Promise<{ status: number; text: string }[]> {
  const clients = Array.from({ length: count }, () => new Client(origin));
  try {
    await Promise.all(
      clients.map(async (client) => (await client.request({ method: 'GET', path: openingPath })).body.dump()),
    );
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams(form).toString();
    return await Promise.all(
      clients.map(async (client) => {
        const response = await client.request({ method: 'POST', path, headers, body });
        return { status: response.statusCode, text: await response.body.text() };
      }),
    );
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}
