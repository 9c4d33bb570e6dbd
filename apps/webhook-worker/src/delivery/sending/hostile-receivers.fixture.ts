import { listen } from '@fulfilment/testing';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

const run = promisify(execFile);
const dripIntervalMs = 50;

/** Behaviour of a server on a connection. */
type Behaviour = (socket: Socket) => void;

const respondOnce = (response: string | Buffer): Behaviour => afterRequest((socket) => socket.end(response));
const redirect = (status: number, target: string): Behaviour =>
  respondOnce(`HTTP/1.1 ${status} Moved\r\nlocation: ${target}\r\ncontent-length: 0\r\n\r\n`);
const reset = (socket: Socket): void => void socket.resetAndDestroy();

/** Behaves like `then` after a whole request: its body is a JSON object in one segment, so `}` is its end. */
function afterRequest(then: Behaviour): Behaviour {
  return (socket) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (!text.includes('\r\n\r\n') || !text.endsWith('}')) return;
      text = '';
      then(socket);
    });
  };
}

/** Sends the beginning, then a character every 50 ms. */
function drip(beginning: string): Behaviour {
  return afterRequest((socket) => {
    socket.write(beginning);
    const timer = setInterval(() => socket.write('x'), dripIntervalMs);
    socket.on('close', () => clearInterval(timer));
  });
}

/** Sends the beginning, then chunks without end, as fast as the client reads. */
function flood(beginning: string, chunk: Buffer): Behaviour {
  return afterRequest((socket) => {
    socket.write(beginning);
    const pour = (): void => {
      let hasRoom = true;
      while (hasRoom && !socket.destroyed) hasRoom = socket.write(chunk);
      if (!socket.destroyed) socket.once('drain', pour);
    };
    pour();
  });
}

/** Sends the beginning, then resets the connection. */
function resetAfter(beginning: string): Behaviour {
  return afterRequest((socket) => socket.write(beginning, () => reset(socket)));
}

const ok = 'HTTP/1.1 200 OK\r\n';
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
const bombHead = `${ok}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`;
/** Repeats a text to a chunk of 64 KiB or slightly more. */
const repeated = (text: string): Buffer => Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));

/** Responds in plain text to everything. */
export const speakNoTls: Behaviour = (socket) =>
  void socket.on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));

/** Every behaviour over plain HTTP, with its outcome in the history. */
export function hostileBehaviours(
  redirectTarget: string,
): readonly (readonly [name: string, outcome: string, Behaviour])[] {
  return [
    ['never responds', 'timeout', () => undefined],
    ['drips headers', 'timeout', drip(`${ok}x-long: `)],
    ['drips a body', 'succeeded', drip(`${ok}content-length: 1000000\r\n\r\n`)],
    ['sends an endless body', 'succeeded', flood(`${ok}\r\n`, Buffer.alloc(65_536, 'a'))],
    [
      'sends endless chunks',
      'succeeded',
      flood(`${ok}transfer-encoding: chunked\r\n\r\n`, repeated('1\r\na\r\n')),
    ],
    ['sends an endless error', 'http_error', flood('HTTP/1.1 500 No\r\n\r\n', Buffer.alloc(65_536, 'a'))],
    ['sends a gzip bomb', 'succeeded', respondOnce(Buffer.concat([Buffer.from(bombHead), bomb]))],
    ['sends a huge header', 'connection_failed', respondOnce(`${ok}x-long: ${'a'.repeat(100_000)}\r\n\r\n`)],
    ['sends endless headers', 'connection_failed', flood(ok, repeated(`x-more: ${'a'.repeat(100)}\r\n`))],
    ['sends an endless status line', 'timeout', flood('HTTP/1.1 200 ', Buffer.alloc(65_536, 'a'))],
    [
      'redirects to metadata',
      'redirect_not_followed',
      redirect(302, 'http://169.254.169.254/latest/meta-data/'),
    ],
    ['redirects permanently to metadata', 'redirect_not_followed', redirect(308, 'http://[fd00:ec2::254]/')],
    ['redirects to another server', 'redirect_not_followed', redirect(307, redirectTarget)],
    ['resets at once', 'connection_failed', reset],
    ['resets after the request', 'connection_failed', afterRequest(reset)],
    ['resets in the headers', 'connection_failed', resetAfter(`${ok}content-le`)],
    ['resets in the body', 'succeeded', resetAfter(`${ok}content-length: 100\r\n\r\nshort`)],
    ['closes at once', 'connection_failed', (socket) => void socket.end()],
    ['closes in the headers', 'connection_failed', respondOnce(`${ok}content-le`)],
    [
      'responds with 100 and no more',
      'connection_failed',
      afterRequest((socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n')),
    ],
    ['floods with 100', 'connection_failed', flood('', repeated('HTTP/1.1 100 Continue\r\n\r\n'))],
    ['floods with 103', 'connection_failed', flood('', repeated('HTTP/1.1 103 Early Hints\r\n\r\n'))],
    [
      'switches protocols',
      'connection_failed',
      respondOnce('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    ],
    ['promises more than it sends', 'succeeded', respondOnce(`${ok}content-length: 1000\r\n\r\nshort`)],
    [
      'sends more than it promises',
      'succeeded',
      respondOnce(`${ok}content-length: 2\r\n\r\nlonger HTTP/1.1 500 No\r\n\r\n`),
    ],
    [
      'has two lengths',
      'connection_failed',
      respondOnce(`${ok}content-length: 2\r\ncontent-length: 3\r\n\r\nabc`),
    ],
    ['has a length below zero', 'connection_failed', respondOnce(`${ok}content-length: -1\r\n\r\n`)],
    ['speaks HTTP/0.9', 'connection_failed', respondOnce('<html>It works!</html>')],
    ['speaks another protocol', 'connection_failed', (socket) => void socket.end('220 mail ESMTP\r\n')],
    ['has an invalid status', 'connection_failed', respondOnce('HTTP/1.1 000 \r\n\r\n')],
  ];
}

/** Servers of a test on loopback, each on its own port. */
export function hostileServers() {
  const sockets = new Set<Socket>();
  const stops: (() => Promise<void>)[] = [];
  let connections = 0;
  const open = async (server: Server): Promise<number> => {
    const { port, close } = await listen(server);
    stops.push(close);
    return port;
  };
  const track = (socket: Socket): void => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  return {
    /** Returns the number of connections so far, to all servers. */
    connections: () => connections,
    /** Starts a TCP server. Returns its port. */
    plain: (behaviour: Behaviour) =>
      open(
        createServer((socket) => {
          track(socket);
          behaviour(socket);
        }),
      ),
    /** Starts an HTTPS server with this certificate, which accepts every request. */
    tls: async (certificate: { readonly cert: string; readonly key: string }) => {
      const server = createTlsServer(
        { cert: await readFile(certificate.cert), key: await readFile(certificate.key) },
        afterRequest((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n')),
      );
      server.on('connection', track).on('tlsClientError', () => undefined);
      return open(server);
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

/**
 * Creates certificates: an authority that the worker trusts, certificates signed by it, and a self-signed
 * one.
 */
export async function certificates(directory: string) {
  const pathOf = (name: string): string => join(directory, name);
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const openssl = (...args: string[]) => run('openssl', args);
  const selfSigned = async (name: string, ...more: string[]) => {
    const [cert, key] = [pathOf(`${name}.pem`), pathOf(`${name}.key`)];
    await openssl('req', '-x509', ...newKey, '-keyout', key, '-out', cert, '-subj', `/CN=${name}`, ...more);
    return { cert, key };
  };
  const authority = await selfSigned('authority');
  const signed = async (name: string, { host, days }: { host: string; days: number }) => {
    const [cert, key] = [pathOf(`${name}.pem`), pathOf(`${name}.key`)];
    const [request, extension] = [pathOf(`${name}.csr`), pathOf(`${name}.ext`)];
    await writeFile(extension, `subjectAltName=${host}`);
    await openssl('req', '-new', ...newKey, '-keyout', key, '-out', request, '-subj', `/CN=${name}`);
    const authorityFiles = ['-CA', authority.cert, '-CAkey', authority.key, '-CAcreateserial'];
    const certificateOptions = ['-extfile', extension, '-days', String(days)];
    await openssl('x509', '-req', '-in', request, ...authorityFiles, ...certificateOptions, '-out', cert);
    return { cert, key };
  };
  return {
    authority: authority.cert,
    good: await signed('good', { host: 'IP:127.0.0.1', days: 2 }),
    expired: await signed('expired', { host: 'IP:127.0.0.1', days: -1 }),
    otherHost: await signed('other-host', { host: 'DNS:other.example', days: 2 }),
    selfSigned: await selfSigned('self-signed', '-addext', 'subjectAltName=IP:127.0.0.1'),
  };
}
