import { freePort } from '@fulfilment/testing';
import {
  newClient,
  postRequest,
  serve,
  serveRaw,
  serveResetHandshakes,
  stopAll,
} from './guarded-client.fixture.js';

afterEach(stopAll);

describe('the guarded client', () => {
  it('sends the given bytes and headers, and requests no compression', async () => {
    const seen: { body: string; headers: NodeJS.Dict<string | string[]>; url: string | undefined }[] = [];
    const url = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen.push({ body: Buffer.concat(chunks).toString(), headers: request.headers, url: request.url });
        response.writeHead(201, { 'x-example': 'yes' }).end('thanks');
      });
    });
    const exchange = await newClient().send(
      postRequest(`${url}hook?key=1`, { headers: { 'x-event': 'a' }, body: Buffer.from('✓') }),
    );
    expect(exchange).toMatchObject({ outcome: 'succeeded', statusCode: 201, complete: true });
    expect(exchange.body.toString()).toBe('thanks');
    expect(exchange.headers['x-example']).toBe('yes');
    expect(seen[0]).toMatchObject({ body: '✓', url: '/hook?key=1' });
    expect(seen[0]?.headers).toMatchObject({ 'x-event': 'a', 'accept-encoding': 'identity' });
  });

  it.each([
    [204, 'succeeded'],
    [299, 'succeeded'],
    [400, 'http_error'],
    [410, 'http_error'],
    [500, 'http_error'],
  ])('reports status %i as %s', async (status, outcome) => {
    const url = await serve((_request, response) => response.writeHead(status).end());
    expect(await newClient().send(postRequest(url))).toMatchObject({ outcome, statusCode: status });
  });

  it.each([301, 302, 303, 307, 308])('does not follow a %i', async (status) => {
    let targetRequests = 0;
    const target = await serve((_request, response) => {
      targetRequests += 1;
      response.end();
    });
    const url = await serve((_request, response) => response.writeHead(status, { location: target }).end());
    expect(await newClient().send(postRequest(url))).toMatchObject({
      outcome: 'redirect_not_followed',
      statusCode: status,
    });
    expect(targetRequests).toBe(0);
  });

  it('does not connect to a blocked IP literal, for which there is no lookup', async () => {
    const { url, connections } = await serveRaw(() => undefined);
    const client = newClient({ allowLoopback: false });
    for (const host of ['127.0.0.1', '0x7f.1', '[::ffff:127.0.0.1]'])
      expect(await client.send(postRequest(url.replace('127.0.0.1', host)))).toMatchObject({
        outcome: 'blocked_address',
      });
    expect(connections()).toBe(0);
  });

  it('does not connect to a name when any of its addresses is blocked', async () => {
    const { url, connections } = await serveRaw(() => undefined);
    const mixed = newClient({
      allowLoopback: false,
      resolve: () =>
        Promise.resolve([
          { address: '8.8.8.8', family: 4 },
          { address: '127.0.0.1', family: 4 },
        ]),
    });
    expect(await mixed.send(postRequest(url.replace('127.0.0.1', 'rebind.example')))).toMatchObject({
      outcome: 'blocked_address',
    });
    expect(connections()).toBe(0);
  });

  it('resolves a name once, and connects to the addresses it has checked (DNS rebinding)', async () => {
    const url = await serve((_request, response) => response.end());
    let lookups = 0;
    const rebinding = newClient({
      resolve: () => {
        lookups += 1;
        return Promise.resolve([{ address: lookups === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }]);
      },
    });
    expect(await rebinding.send(postRequest(url.replace('127.0.0.1', 'rebind.example')))).toMatchObject({
      outcome: 'succeeded',
    });
    expect(lookups).toBe(1);
  });

  it.each([
    ['the name does not exist', 'ENOTFOUND', 'queryA', 'dns_error', false],
    ['the error of an unknown name has no syscall', 'ENOTFOUND', undefined, 'dns_error', false],
    ['the name has no address', 'ENODATA', 'queryA', 'dns_error', false],
    ['the name server fails', 'ESERVFAIL', 'queryA', 'dns_error', true],
    ['the name server is unreachable', 'ECONNREFUSED', 'queryA', 'dns_error', true],
    ['this machine cannot resolve names', 'EAI_AGAIN', 'getaddrinfo', 'dns_error', true],
    ['this machine has no file descriptors left', 'EMFILE', 'connect', 'connection_failed', true],
    ['the host is unreachable', 'EHOSTUNREACH', 'connect', 'connection_failed', false],
  ])(
    'when %s (%s of %s), reports %s, and a local failure: %j',
    async (_case, code, syscall, outcome, isLocalFailure) => {
      const error = Object.assign(new Error(), { code, syscall });
      const failing = newClient({ resolve: () => Promise.reject(error) });
      expect(await failing.send(postRequest('http://receiver.example/'))).toMatchObject({
        outcome,
        isLocalFailure,
      });
    },
  );

  it('reports a silent name server as a local failure', async () => {
    const silent = newClient({ resolve: () => new Promise(() => undefined) });
    const exchange = await silent.send(postRequest('http://receiver.example/'));
    expect(exchange).toMatchObject({ outcome: 'dns_error', isLocalFailure: true });
  });

  it('reports connection_failed when no server listens, and when the connection is reset', async () => {
    const unused = `http://127.0.0.1:${await freePort()}/`;
    expect(await newClient().send(postRequest(unused))).toMatchObject({ outcome: 'connection_failed' });
    const { url } = await serveRaw((socket) => socket.resetAndDestroy());
    expect(await newClient().send(postRequest(url))).toMatchObject({ outcome: 'connection_failed' });
  });

  it('reports connection_failed when the connection is reset at the end of the TLS handshake', async () => {
    const url = await serveResetHandshakes();
    expect(await newClient().send(postRequest(url))).toMatchObject({
      outcome: 'connection_failed',
      isLocalFailure: false,
    });
  });

  it('reports connection_failed when the URL cannot be parsed', async () => {
    expect(await newClient().send(postRequest('https://'))).toMatchObject({ outcome: 'connection_failed' });
  });

  it('reports tls_error when the server does not speak TLS', async () => {
    const url = await serve((_request, response) => response.end());
    expect(await newClient().send(postRequest(url.replace('http:', 'https:')))).toMatchObject({
      outcome: 'tls_error',
    });
  });

  it('aborts at the deadline when there is no response', async () => {
    const { url } = await serveRaw(() => undefined);
    expect(await newClient().send(postRequest(url, { deadlineMs: 200 }))).toMatchObject({
      outcome: 'timeout',
      abortReason: 'deadline',
    });
  });

  it('aborts at the deadline although bytes of the headers keep arriving', async () => {
    const { url } = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('x'), 20);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await newClient().send(postRequest(url, { deadlineMs: 300 }))).toMatchObject({
      outcome: 'timeout',
    });
  });

  it('reports connection_failed when the headers have more than 16 KiB', async () => {
    const { url } = await serveRaw((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nx-long: ${'a'.repeat(20_000)}\r\ncontent-length: 0\r\n\r\n`);
    });
    expect(await newClient().send(postRequest(url))).toMatchObject({ outcome: 'connection_failed' });
  });

  it.each([
    [20, 'succeeded'],
    [21, 'connection_failed'],
  ])('after %i interim responses and a 204, reports %s', async (count, outcome) => {
    const { url } = await serveRaw((socket) => {
      const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(count);
      socket.once('data', () => socket.write(`${hints}HTTP/1.1 204 No Content\r\n\r\n`));
    });
    expect(await newClient().send(postRequest(url))).toMatchObject({ outcome });
  });

  it('reports connection_failed when the response is not HTTP', async () => {
    const { url } = await serveRaw((socket) => socket.write('220 mail.example ESMTP\r\n'));
    expect(await newClient().send(postRequest(url))).toMatchObject({ outcome: 'connection_failed' });
  });

  it('uses no proxy from the environment', async () => {
    const { url: proxy, connections } = await serveRaw(() => undefined);
    const url = await serve((_request, response) => response.end());
    process.env['HTTP_PROXY'] = proxy;
    process.env['HTTPS_PROXY'] = proxy;
    expect(await newClient().send(postRequest(url))).toMatchObject({ outcome: 'succeeded' });
    expect(connections()).toBe(0);
  });
});

describe('the check of a target URL with its addresses', () => {
  it('rejects a name that resolves to a blocked address', async () => {
    const client = newClient({
      allowLoopback: false,
      resolve: () => Promise.resolve([{ address: '10.0.0.1', family: 4 }]),
    });
    expect(await client.findAddressProblem('https://hooks.example.com/')).toBe(
      'must not resolve to a private or reserved address',
    );
  });

  it('accepts a name that does not resolve yet', async () => {
    const client = newClient({
      allowLoopback: false,
      resolve: () => Promise.reject(new Error('no such name')),
    });
    expect(await client.findAddressProblem('https://hooks.example.com/')).toBeUndefined();
  });

  it('accepts a name with public addresses', async () => {
    const client = newClient({
      allowLoopback: false,
      resolve: () => Promise.resolve([{ address: '8.8.8.8', family: 4 }]),
    });
    expect(await client.findAddressProblem('https://hooks.example.com/')).toBeUndefined();
  });
});
