import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { GuardedClient, type GuardedRequest } from './guarded-client.js';

const limits = { deadlineMs: 2_000, bodyWithinMs: 300, readAtMostBytes: 16_384, keepAtMostBytes: 4_096 };
const stops: (() => Promise<void>)[] = [];

function client(allowLoopback = true, resolve?: ConstructorParameters<typeof GuardedClient>[0]['resolve']) {
  const made = new GuardedClient({ allowLoopback, resolve });
  stops.push(() => made.close());
  return made;
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  const port = await portOf(server);
  stops.push(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  return `http://127.0.0.1:${port}/`;
}

/** A server below HTTP: anything can be answered. */
async function serveRaw(onConnection: (socket: Socket) => void) {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  const port = await portOf(server);
  stops.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return { url: `http://127.0.0.1:${port}/`, connections: () => sockets.length };
}

function post(url: string, changes: Partial<GuardedRequest> = {}): GuardedRequest {
  return { method: 'POST', url, headers: {}, body: Buffer.from('{}'), ...limits, ...changes };
}

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

describe('the guarded client', () => {
  it('sends the bytes and headers it was given, and asks for no compression', async () => {
    const seen: { body: string; headers: NodeJS.Dict<string | string[]>; url: string | undefined }[] = [];
    const url = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen.push({ body: Buffer.concat(chunks).toString(), headers: request.headers, url: request.url });
        response.writeHead(201, { 'x-answer': 'yes' }).end('thanks');
      });
    });
    const exchange = await client().send(
      post(`${url}hook?key=1`, { headers: { 'x-event': 'a' }, body: Buffer.from('✓') }),
    );
    expect(exchange).toMatchObject({ outcome: 'succeeded', statusCode: 201, complete: true });
    expect(exchange.body.toString()).toBe('thanks');
    expect(exchange.headers['x-answer']).toBe('yes');
    expect(seen[0]).toMatchObject({ body: '✓', url: '/hook?key=1' });
    expect(seen[0]?.headers).toMatchObject({ 'x-event': 'a', 'accept-encoding': 'identity' });
  });

  it.each([
    [204, 'succeeded'],
    [299, 'succeeded'],
    [400, 'http_error'],
    [410, 'http_error'],
    [500, 'http_error'],
  ])('calls status %i %s', async (status, outcome) => {
    const url = await serve((_request, response) => response.writeHead(status).end());
    expect(await client().send(post(url))).toMatchObject({ outcome, statusCode: status });
  });

  it.each([301, 302, 303, 307, 308])('does not follow a %i', async (status) => {
    let other = 0;
    const target = await serve((_request, response) => {
      other += 1;
      response.end();
    });
    const url = await serve((_request, response) => response.writeHead(status, { location: target }).end());
    expect(await client().send(post(url))).toMatchObject({
      outcome: 'redirect_not_followed',
      statusCode: status,
    });
    expect(other).toBe(0);
  });

  it('does not connect to a blocked literal, although no look-up happens for it', async () => {
    const { url, connections } = await serveRaw(() => undefined);
    expect(await client(false).send(post(url))).toMatchObject({ outcome: 'blocked_address' });
    expect(await client(false).send(post(url.replace('127.0.0.1', '0x7f.1')))).toMatchObject({
      outcome: 'blocked_address',
    });
    expect(await client(false).send(post(url.replace('127.0.0.1', '[::ffff:127.0.0.1]')))).toMatchObject({
      outcome: 'blocked_address',
    });
    expect(connections()).toBe(0);
  });

  it('does not connect to a name when any of its addresses is blocked', async () => {
    const { url, connections } = await serveRaw(() => undefined);
    const mixed = client(false, () =>
      Promise.resolve([
        { address: '8.8.8.8', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]),
    );
    expect(await mixed.send(post(url.replace('127.0.0.1', 'rebind.example')))).toMatchObject({
      outcome: 'blocked_address',
    });
    expect(connections()).toBe(0);
  });

  it('connects to the very addresses that were judged, asking once (DNS rebinding)', async () => {
    const url = await serve((_request, response) => response.end());
    let asked = 0;
    const rebinding = client(true, () => {
      asked += 1;
      return Promise.resolve([{ address: asked === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }]);
    });
    expect(await rebinding.send(post(url.replace('127.0.0.1', 'rebind.example')))).toMatchObject({
      outcome: 'succeeded',
    });
    expect(asked).toBe(1);
  });

  it('says dns_error when a name has no address', async () => {
    const nowhere = client(true, () =>
      Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })),
    );
    expect(await nowhere.send(post('http://nowhere.example/'))).toMatchObject({ outcome: 'dns_error' });
  });

  it('says connection_failed when nobody listens, and when the connection is reset', async () => {
    const server = createTcpServer();
    const port = await portOf(server);
    server.close();
    await once(server, 'close');
    expect(await client().send(post(`http://127.0.0.1:${port}/`))).toMatchObject({
      outcome: 'connection_failed',
    });
    const { url } = await serveRaw((socket) => socket.resetAndDestroy());
    expect(await client().send(post(url))).toMatchObject({ outcome: 'connection_failed' });
  });

  it('says tls_error when the peer does not speak TLS', async () => {
    const url = await serve((_request, response) => response.end());
    expect(await client().send(post(url.replace('http:', 'https:')))).toMatchObject({ outcome: 'tls_error' });
  });

  it('ends a request that is never answered at the deadline', async () => {
    const { url } = await serveRaw(() => undefined);
    const exchange = await client().send(post(url, { deadlineMs: 200 }));
    expect(exchange.outcome).toBe('timeout');
    expect(exchange.durationMs).toBeLessThan(1_000);
  });

  it('ends headers that drip at the deadline, however regularly they come', async () => {
    const { url } = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('x'), 20);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await client().send(post(url, { deadlineMs: 300 }))).toMatchObject({ outcome: 'timeout' });
  });

  it('takes the status for the outcome when the body drips, and does not wait for it', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(drip));
    });
    const exchange = await client().send(post(url, { deadlineMs: 10_000 }));
    expect(exchange).toMatchObject({ outcome: 'succeeded', complete: false });
    expect(exchange.durationMs).toBeLessThan(2_000);
  });

  it('stops reading an endless body, keeps its beginning and closes the connection', async () => {
    let tellClosed: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      tellClosed = resolve;
    });
    const url = await serve((_request, response) => {
      response.on('close', tellClosed);
      const pour = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 'a')));
        if (!response.destroyed) response.once('drain', pour);
      };
      pour();
    });
    const exchange = await client().send(post(url));
    expect(exchange).toMatchObject({ outcome: 'succeeded', complete: false });
    expect(exchange.body.toString()).toBe('a'.repeat(4_096));
    await closed;
  });

  it('does not inflate a compressed body', async () => {
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024));
    const url = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    const exchange = await client().send(post(url));
    expect(exchange.body.equals(bomb.subarray(0, 4_096))).toBe(true);
  });

  it('refuses headers of more than 16 KiB', async () => {
    const { url } = await serveRaw((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nx-long: ${'a'.repeat(20_000)}\r\ncontent-length: 0\r\n\r\n`);
    });
    expect(await client().send(post(url))).toMatchObject({ outcome: 'connection_failed' });
  });

  it('says connection_failed when the answer is not HTTP', async () => {
    const { url } = await serveRaw((socket) => socket.write('220 mail.example ESMTP\r\n'));
    expect(await client().send(post(url))).toMatchObject({ outcome: 'connection_failed' });
  });

  it('hands a large body on as it comes, up to its limit', async () => {
    const url = await serve((_request, response) => response.end(Buffer.alloc(300_000)));
    let bytes = 0;
    const onChunk = (chunk: Buffer): void => {
      bytes += chunk.length;
    };
    const large = {
      method: 'GET' as const,
      body: undefined,
      bodyWithinMs: 2_000,
      keepAtMostBytes: 0,
      onChunk,
    };
    expect(await client().send(post(url, { ...large, readAtMostBytes: 300_000 }))).toMatchObject({
      complete: true,
    });
    expect(bytes).toBe(300_000);
    bytes = 0;
    expect(await client().send(post(url, { ...large, readAtMostBytes: 100_000 }))).toMatchObject({
      complete: false,
    });
    expect(bytes).toBe(100_000);
  });

  it('reads no faster than the body is taken', async () => {
    let sent = 0;
    const url = await serve((_request, response) => {
      const pour = (): void => {
        let room = true;
        while (room && sent < 64 * 1024 * 1024) {
          room = response.write(Buffer.alloc(65_536));
          sent += 65_536;
        }
        if (sent < 64 * 1024 * 1024) response.once('drain', pour);
        else response.end();
      };
      pour();
    });
    let taken = 0;
    let atWork = 0;
    let mostAtWork = 0;
    let mostAhead = 0;
    const exchange = await client().send(
      post(url, {
        deadlineMs: 30_000,
        bodyWithinMs: 30_000,
        readAtMostBytes: Infinity,
        keepAtMostBytes: 0,
        onChunk: async (chunk) => {
          mostAtWork = Math.max(mostAtWork, ++atWork);
          mostAhead = Math.max(mostAhead, sent - taken);
          await new Promise((resolve) => setImmediate(resolve));
          taken += chunk.length;
          atWork -= 1;
        },
      }),
    );
    expect(exchange).toMatchObject({ complete: true, cutBy: undefined });
    expect([taken, mostAtWork]).toEqual([64 * 1024 * 1024, 1]);
    expect(mostAhead).toBeLessThan(32 * 1024 * 1024); // what sockets hold, not the whole body
  });

  it('waits for more when all that came was taken at once', async () => {
    let answer: ServerResponse | undefined;
    const url = await serve((_request, response) => {
      answer = response;
      response.write('first');
    });
    const taken: string[] = [];
    const exchange = await client().send(
      post(url, {
        keepAtMostBytes: 0,
        onChunk: (chunk) => {
          taken.push(chunk.toString());
          if (chunk.toString() === 'first') setImmediate(() => answer?.end('second'));
          return Promise.resolve();
        },
      }),
    );
    expect(exchange.complete).toBe(true);
    expect(taken).toEqual(['first', 'second']);
  });

  it('says what cut an exchange short', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.write(Buffer.alloc(100_000));
    });
    const controller = new AbortController();
    const cutBy = async (changes: Partial<GuardedRequest>) => (await client().send(post(url, changes))).cutBy;
    expect(await cutBy({})).toBe('limit');
    expect(await cutBy({ readAtMostBytes: 200_000, bodyWithinMs: 50 })).toBe('deadline');
    expect(
      await cutBy({
        wantsBody: (status, headers) => status === 200 && headers['content-type'] === 'audio/mpeg',
      }),
    ).toBe('caller');
    const patient = { readAtMostBytes: 200_000, bodyWithinMs: 2_000 };
    expect(await cutBy({ ...patient, onChunk: () => Promise.reject(new Error('The disk is full.')) })).toBe(
      'caller',
    );
    expect(await cutBy({ ...patient, signal: controller.signal, onChunk: () => controller.abort() })).toBe(
      'caller',
    );
    expect(await client().send(post(url, { signal: AbortSignal.abort() }))).toMatchObject({
      outcome: 'connection_failed',
      cutBy: 'caller',
    });
  });

  it('uses no proxy of the environment', async () => {
    const { url: proxy, connections } = await serveRaw(() => undefined);
    const url = await serve((_request, response) => response.end());
    process.env['HTTP_PROXY'] = proxy;
    process.env['HTTPS_PROXY'] = proxy;
    try {
      expect(await client().send(post(url))).toMatchObject({ outcome: 'succeeded' });
    } finally {
      delete process.env['HTTP_PROXY'];
      delete process.env['HTTPS_PROXY'];
    }
    expect(connections()).toBe(0);
  });
});

describe('a target given at creation', () => {
  it('is refused when its name resolves to a blocked address', async () => {
    const inside = client(false, () => Promise.resolve([{ address: '10.0.0.1', family: 4 }]));
    expect(await inside.problemWith('https://hooks.example.com/')).toBe(
      'must not resolve to a private or reserved address',
    );
  });

  it('is taken when its name does not resolve yet', async () => {
    const nowhere = client(false, () => Promise.reject(new Error('no such name')));
    expect(await nowhere.problemWith('https://hooks.example.com/')).toBeUndefined();
  });

  it('is taken when its addresses are public', async () => {
    const outside = client(false, () => Promise.resolve([{ address: '8.8.8.8', family: 4 }]));
    expect(await outside.problemWith('https://hooks.example.com/')).toBeUndefined();
  });
});
