import { GuardedClient } from '@fulfilment/guarded-fetch';
import { listen } from '@fulfilment/testing';
import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import type { RequestListener, ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { wave } from '../audio/audio-samples.fixture.js';
import { FetchAudio } from './fetch-audio.js';
import { Spool } from './spool.js';
import { type AudioServer, audioServer } from '../track-uploads.fixture.js';

const maxBytes = 300_000; // more than the 192 kB of `file`
/** Only a server that sends too slowly or not at all exceeds these time limits. */
const defaultLimits = {
  TRACK_UPLOAD_MAX_BYTES: maxBytes,
  TRACK_UPLOAD_TIMEOUT_MS: 60_000,
  TRACK_UPLOAD_SLOWEST_BYTES_PER_SECOND: 1_000,
  TRACK_UPLOAD_SLOW_FOR_MS: 30_000,
};
const file = wave();
const zipBomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));

/** Writes for as long as the client reads. */
function writeEndlessly(response: ServerResponse): void {
  const write = (): void => {
    let hasCapacity = true;
    while (hasCapacity && !response.destroyed) hasCapacity = response.write(Buffer.alloc(65_536, 'a'));
    if (!response.destroyed) response.once('drain', write);
  };
  write();
}

describe('the download of audio from a hostile server', () => {
  const directory = join(tmpdir(), `hostile-sources-${randomUUID()}`);
  const spool = new Spool(directory);
  const client = new GuardedClient({ allowLoopback: true });
  const publicOnlyClient = new GuardedClient({ allowLoopback: false });
  let server: AudioServer;
  beforeAll(async () => {
    server = await audioServer();
  });
  afterAll(async () => {
    await Promise.all([server.stop(), client.close(), publicOnlyClient.close()]);
    await rm(directory, { recursive: true, force: true });
  });

  const fetchFrom = async (
    url: string,
    {
      guardedClient = client,
      signal = new AbortController().signal,
      limits = {},
    }: { guardedClient?: GuardedClient; signal?: AbortSignal; limits?: Partial<typeof defaultLimits> } = {},
  ) => {
    const spooled = await spool.open();
    const startedAtMs = performance.now();
    try {
      const fetchAudio = new FetchAudio(guardedClient, { ...defaultLimits, ...limits });
      const problem = await fetchAudio.run(url, spooled, signal);
      return { problem, bytes: spooled.size, tookMs: performance.now() - startedAtMs };
    } finally {
      await spooled.close();
    }
  };
  const fetchServed = (listener: RequestListener, limits: Partial<typeof defaultLimits> = {}) => {
    server.respondWith(listener);
    return fetchFrom(server.url(), { limits });
  };

  it('succeeds when the server sends the file, and requests it uncompressed', async () => {
    let encoding: string | undefined;
    const { problem, bytes } = await fetchServed((request, response) => {
      encoding = request.headers['accept-encoding'];
      response.end(file);
    });
    expect([problem, bytes, encoding]).toEqual([undefined, file.length, 'identity']);
  });

  it.each<[string, string, 'permanent' | 'transient', RequestListener]>([
    ['an endless body', 'too_large', 'permanent', (_request, response) => writeEndlessly(response)],
    [
      'a body one byte too long',
      'too_large',
      'permanent',
      (_request, response) => response.end(Buffer.alloc(maxBytes + 1)),
    ],
    [
      'a length beyond the limit',
      'too_large',
      'permanent',
      (_request, response) => response.writeHead(200, { 'content-length': String(2 ** 40) }).write('RIFF'),
    ],
    ['an empty body', 'empty', 'permanent', (_request, response) => response.end()],
    [
      'a compressed body',
      'compressed',
      'permanent',
      (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(zipBomb),
    ],
    [
      'an endless 404',
      'http_error',
      'permanent',
      (_request, response) => writeEndlessly(response.writeHead(404)),
    ],
    ['401', 'http_error', 'permanent', (_request, response) => response.writeHead(401).end()],
    [
      'a part of the file',
      'http_error',
      'permanent',
      (_request, response) => response.writeHead(206).end(file),
    ],
    ['204', 'http_error', 'permanent', (_request, response) => response.writeHead(204).end()],
    ['429', 'http_error', 'transient', (_request, response) => response.writeHead(429).end()],
    ['500', 'http_error', 'transient', (_request, response) => response.writeHead(500).end()],
    [
      'less than its content length',
      'connection_failed',
      'transient',
      (_request, response) => {
        response.writeHead(200, { 'content-length': String(file.length) });
        response.write(file.subarray(0, 1000), () => response.destroy());
      },
    ],
  ])('reports %s as %s, which is %s', async (_what, code, kind, listener) => {
    const { problem, bytes, tookMs } = await fetchServed(listener);
    expect(problem).toMatchObject({
      code,
      isTransient: kind === 'transient',
      message: expect.stringMatching(/^The .*\.$/),
    });
    expect(bytes).toBeLessThanOrEqual(maxBytes + 1);
    expect(tookMs).toBeLessThan(defaultLimits.TRACK_UPLOAD_SLOW_FOR_MS);
  });

  // The second value is the number of bytes per write. The server writes 50 times a second, so 1 byte is
  // slower than the limit of 1000 bytes per second, and 100 bytes are faster.
  it.each([
    ['a body that drips', 1],
    ['a body that comes fast enough and takes too long', 100],
  ])('reports %s as too_slow, which is permanent', async (_what, bytesPerWrite) => {
    const drip: RequestListener = (_request, response) => {
      const dripping = setInterval(() => response.write(Buffer.alloc(bytesPerWrite)), 20);
      response.on('close', () => clearInterval(dripping));
    };
    const fetchWithin = async (limitMs: number) =>
      (
        await fetchServed(drip, {
          TRACK_UPLOAD_SLOW_FOR_MS: limitMs,
          TRACK_UPLOAD_TIMEOUT_MS: 2 * limitMs,
        })
      ).problem;
    let problem = await fetchWithin(500);
    // On a busy machine, the body may begin only after the short time limit.
    if (problem?.code === 'timeout') problem = await fetchWithin(20_000);
    expect(problem).toMatchObject({ code: 'too_slow', isTransient: false });
  });

  it('reports no response as timeout, which is transient', async () => {
    const { problem } = await fetchServed(() => undefined, { TRACK_UPLOAD_TIMEOUT_MS: 500 });
    expect(problem).toMatchObject({
      code: 'timeout',
      isTransient: true,
      message: 'The server did not respond in time.',
    });
  });

  it.each([301, 302, 303, 307, 308])('does not follow a %i redirect to a private address', async (status) => {
    let visited = 0;
    const inside = await listen(
      createServer((socket) => {
        visited += 1;
        socket.destroy();
      }),
    );
    const { problem } = await fetchServed((_request, response) =>
      response.writeHead(status, { location: `http://127.0.0.1:${inside.port}/secret` }).end(),
    );
    await inside.close();
    expect(problem).toMatchObject({ code: 'redirect_not_followed', isTransient: false });
    expect(visited).toBe(0);
  });

  it('connects to no private address, whether the URL contains it or its host name resolves to it', async () => {
    const before = server.requests();
    const rebinding = new GuardedClient({
      allowLoopback: false,
      resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
    });
    const named = await fetchFrom(`http://files.example:${server.port}/`, {
      guardedClient: rebinding,
    });
    expect(named.problem).toMatchObject({ code: 'blocked_address', isTransient: false });
    expect((await fetchFrom(server.url(), { guardedClient: publicOnlyClient })).problem).toMatchObject({
      code: 'blocked_address',
    });
    expect(server.requests()).toBe(before);
    await rebinding.close();
  });

  it('reads no more than the content length', async () => {
    const sockets: Socket[] = [];
    const raw = await listen(
      createServer((socket) => {
        sockets.push(socket.on('error', () => undefined));
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n${'a'.repeat(1000)}`);
      }),
    );
    expect(await fetchFrom(`http://127.0.0.1:${raw.port}/`)).toMatchObject({ problem: undefined, bytes: 10 });
    for (const socket of sockets) socket.destroy();
    await raw.close();
  });

  it('reports an unreachable server as connection_failed, which is transient', async () => {
    expect((await fetchFrom('http://127.0.0.1:1/')).problem).toMatchObject({
      code: 'connection_failed',
      isTransient: true,
    });
  });

  it('rejects with the reason of the signal when it aborts', async () => {
    const stopping = new AbortController();
    server.respondWith(() => stopping.abort(new Error('Stopping.')));
    await expect(fetchFrom(server.url(), { signal: stopping.signal })).rejects.toThrow('Stopping.');
  });

  it('leaves no file in the directory', async () => {
    expect(await readdir(directory)).toEqual([]);
  });
});
