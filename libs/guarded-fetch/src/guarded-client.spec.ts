import { once } from 'node:events';
import { createServer as createTcpServer } from 'node:net';
import { client, portOf, post, serve, serveRaw, stopAll } from './guarded-client.fixture.js';

afterEach(stopAll);

/** The whole process does nothing for so long, as if it was stopped. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

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

  it.each([
    [
      'there is no such name',
      Object.assign(new Error(), { code: 'ENOTFOUND', syscall: 'queryA' }),
      'dns_error',
      false,
    ],
    [
      'it has no address',
      Object.assign(new Error(), { code: 'ENODATA', syscall: 'queryA' }),
      'dns_error',
      false,
    ],
    [
      'the name server fails',
      Object.assign(new Error(), { code: 'ESERVFAIL', syscall: 'queryA' }),
      'dns_error',
      true,
    ],
    [
      'it is away',
      Object.assign(new Error(), { code: 'ECONNREFUSED', syscall: 'queryA' }),
      'dns_error',
      true,
    ],
    [
      'the machine cannot ask',
      Object.assign(new Error(), { code: 'EAI_AGAIN', syscall: 'getaddrinfo' }),
      'dns_error',
      true,
    ],
    [
      'there are no files left',
      Object.assign(new Error(), { code: 'EMFILE', syscall: 'connect' }),
      'connection_failed',
      true,
    ],
    [
      'the host is away',
      Object.assign(new Error(), { code: 'EHOSTUNREACH', syscall: 'connect' }),
      'connection_failed',
      false,
    ],
  ])('knows whose fault it is that %s', async (_what, error, outcome, ourFault) => {
    const failing = client(true, () => Promise.reject(error));
    expect(await failing.send(post('http://receiver.example/'))).toMatchObject({ outcome, ourFault });
  });

  it('does not blame the host for a name server that is silent', async () => {
    const silent = client(true, () => new Promise(() => undefined));
    const exchange = await silent.send(post('http://receiver.example/', { deadlineMs: 10_000 }));
    expect(exchange).toMatchObject({ outcome: 'dns_error', ourFault: true });
  });

  it.each([
    [1_500, true],
    [300, false],
  ])('blames nobody else when its own process stood still for %i ms: %j', async (ms, ours) => {
    const { url } = await serveRaw(() => standStill(ms));
    expect(await client().send(post(url, { deadlineMs: 200 }))).toMatchObject({
      outcome: 'timeout',
      ourFault: ours,
      stoodStill: ours,
    });
  });

  it('takes the word of a host that has answered, although its own process stood still then', async () => {
    const url = await serve((_request, response) => response.writeHead(500).write('x'));
    const wantsBody = (): boolean => {
      standStill(1_500);
      return true;
    };
    expect(await client().send(post(url, { deadlineMs: 200, wantsBody }))).toMatchObject({
      outcome: 'http_error',
      ourFault: false,
      stoodStill: true,
    });
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

  it('refuses headers of more than 16 KiB', async () => {
    const { url } = await serveRaw((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nx-long: ${'a'.repeat(20_000)}\r\ncontent-length: 0\r\n\r\n`);
    });
    expect(await client().send(post(url))).toMatchObject({ outcome: 'connection_failed' });
  });

  it.each([
    [5, 'succeeded'],
    [100, 'connection_failed'],
  ])('after %i interim answers says %s', async (count, outcome) => {
    const { url } = await serveRaw((socket) => {
      const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(count);
      socket.once('data', () => socket.write(`${hints}HTTP/1.1 204 Taken\r\n\r\n`));
    });
    expect(await client().send(post(url))).toMatchObject({ outcome });
  });

  it('says connection_failed when the answer is not HTTP', async () => {
    const { url } = await serveRaw((socket) => socket.write('220 mail.example ESMTP\r\n'));
    expect(await client().send(post(url))).toMatchObject({ outcome: 'connection_failed' });
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
