import { Client } from 'undici';

/**
 * Posts a form several times so that a server finds all of them in its sockets before it reads the first: over connections that are open,
 * in one turn of the event loop that it shares. How far a gateway or a network would spread them is not for tests of what happens to
 * those that arrive together.
 * @param openingPath of a GET that opens a connection
 */
export async function arriveTogether(
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
        const answer = await client.request({ method: 'POST', path, headers, body });
        return { status: answer.statusCode, text: await answer.body.text() };
      }),
    );
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}
