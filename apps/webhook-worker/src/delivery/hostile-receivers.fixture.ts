import { listen } from '@fulfilment/testing';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

const run = promisify(execFile);
const dripEveryMs = 50;

/** What a server does to whoever connects. */
type Conduct = (socket: Socket) => void;

const once = (answer: string | Buffer): Conduct => afterRequest((socket) => socket.end(answer));
const redirect = (status: number, target: string): Conduct =>
  once(`HTTP/1.1 ${status} Moved\r\nlocation: ${target}\r\ncontent-length: 0\r\n\r\n`);
const reset = (socket: Socket): void => void socket.resetAndDestroy();

/** Once the request has come whole: those of the tests are shorter than a segment and end with their body. */
function afterRequest(then: Conduct): Conduct {
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

function drip(beginning: string): Conduct {
  return afterRequest((socket) => {
    socket.write(beginning);
    const timer = setInterval(() => socket.write('x'), dripEveryMs);
    socket.on('close', () => clearInterval(timer));
  });
}

/** As fast as the other side reads. */
function flood(beginning: string, again: Buffer): Conduct {
  return afterRequest((socket) => {
    socket.write(beginning);
    const pour = (): void => {
      while (!socket.destroyed && socket.write(again));
      if (!socket.destroyed) socket.once('drain', pour);
    };
    pour();
  });
}

/** Sends this, and then resets the connection. */
function breakOff(beginning: string): Conduct {
  return afterRequest((socket) => socket.write(beginning, () => reset(socket)));
}

const ok = 'HTTP/1.1 200 OK\r\n';
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
const bombHead = `${ok}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`;
const repeated = (text: string): Buffer => Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));

/** Answers in the clear whatever it is sent. */
export const speakNoTls: Conduct = (socket) =>
  void socket.on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));

/**
 * Every conduct over plain HTTP, and what the history calls it. `bait` is the address that redirects name.
 */
export function hostileConducts(
  bait: string,
): readonly (readonly [name: string, outcome: string, Conduct])[] {
  return [
    ['never answers', 'timeout', () => undefined],
    ['drips headers', 'timeout', drip(`${ok}x-long: `)],
    ['drips a body', 'succeeded', drip(`${ok}content-length: 1000000\r\n\r\n`)],
    ['sends an endless body', 'succeeded', flood(`${ok}\r\n`, Buffer.alloc(65_536, 'a'))],
    [
      'sends endless chunks',
      'succeeded',
      flood(`${ok}transfer-encoding: chunked\r\n\r\n`, repeated('1\r\na\r\n')),
    ],
    ['sends an endless error', 'http_error', flood('HTTP/1.1 500 No\r\n\r\n', Buffer.alloc(65_536, 'a'))],
    ['sends a gzip bomb', 'succeeded', once(Buffer.concat([Buffer.from(bombHead), bomb]))],
    ['sends a huge header', 'connection_failed', once(`${ok}x-long: ${'a'.repeat(100_000)}\r\n\r\n`)],
    ['sends endless headers', 'connection_failed', flood(ok, repeated(`x-more: ${'a'.repeat(100)}\r\n`))],
    ['sends an endless status line', 'timeout', flood('HTTP/1.1 200 ', Buffer.alloc(65_536, 'a'))],
    [
      'redirects to metadata',
      'redirect_not_followed',
      redirect(302, 'http://169.254.169.254/latest/meta-data/'),
    ],
    ['redirects permanently to metadata', 'redirect_not_followed', redirect(308, 'http://[fd00:ec2::254]/')],
    ['redirects to a neighbour', 'redirect_not_followed', redirect(307, bait)],
    ['resets at once', 'connection_failed', reset],
    ['resets after the request', 'connection_failed', afterRequest(reset)],
    ['resets in the headers', 'connection_failed', breakOff(`${ok}content-le`)],
    ['resets in the body', 'succeeded', breakOff(`${ok}content-length: 100\r\n\r\nshort`)],
    ['closes at once', 'connection_failed', (socket) => void socket.end()],
    ['closes in the headers', 'connection_failed', once(`${ok}content-le`)],
    [
      'says 100 and no more',
      'connection_failed',
      afterRequest((socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n')),
    ],
    ['floods with 100', 'connection_failed', flood('', repeated('HTTP/1.1 100 Continue\r\n\r\n'))],
    ['floods with 103', 'connection_failed', flood('', repeated('HTTP/1.1 103 Early Hints\r\n\r\n'))],
    [
      'switches protocols',
      'connection_failed',
      once('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    ],
    ['promises more than it sends', 'succeeded', once(`${ok}content-length: 1000\r\n\r\nshort`)],
    [
      'sends more than it promises',
      'succeeded',
      once(`${ok}content-length: 2\r\n\r\nlonger HTTP/1.1 500 No\r\n\r\n`),
    ],
    ['has two lengths', 'connection_failed', once(`${ok}content-length: 2\r\ncontent-length: 3\r\n\r\nabc`)],
    ['has a length below zero', 'connection_failed', once(`${ok}content-length: -1\r\n\r\n`)],
    ['speaks HTTP/0.9', 'connection_failed', once('<html>It works!</html>')],
    ['speaks another protocol', 'connection_failed', (socket) => void socket.end('220 mail ESMTP\r\n')],
    ['has a status that is none', 'connection_failed', once('HTTP/1.1 000 \r\n\r\n')],
  ];
}

/** Servers of a test, all on loopback, each on a port of its own. */
export function strangers() {
  const sockets = new Set<Socket>();
  const stops: (() => Promise<void>)[] = [];
  let connections = 0;
  const open = async (server: Server): Promise<number> => {
    const { port, close } = await listen(server);
    stops.push(close);
    return port;
  };
  const keep = (socket: Socket): void => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  return {
    /** Connections made so far, to any of them. */
    connections: () => connections,
    /** Answers its port. */
    plain: (conduct: Conduct) =>
      open(
        createServer((socket) => {
          keep(socket);
          conduct(socket);
        }),
      ),
    /** A server of HTTPS that takes what it is sent, with this certificate. */
    tls: async (certificate: { readonly cert: string; readonly key: string }) => {
      const server = createTlsServer(
        { cert: await readFile(certificate.cert), key: await readFile(certificate.key) },
        afterRequest((socket) => socket.write('HTTP/1.1 204 Taken\r\n\r\n')),
      );
      server.on('connection', keep).on('tlsClientError', () => undefined);
      return open(server);
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

/**
 * Certificates in this directory: one authority that a worker is to trust, and what it signed, and what
 * nobody did.
 */
export async function certificates(directory: string) {
  const at = (name: string): string => join(directory, name);
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const openssl = (...args: string[]) => run('openssl', args);
  const selfSigned = async (name: string, ...more: string[]) => {
    const [cert, key] = [at(`${name}.pem`), at(`${name}.key`)];
    await openssl('req', '-x509', ...newKey, '-keyout', key, '-out', cert, '-subj', `/CN=${name}`, ...more);
    return { cert, key };
  };
  const authority = await selfSigned('authority');
  const signed = async (name: string, host: string, days: number) => {
    const [cert, key, request, extension] = [`${name}.pem`, `${name}.key`, `${name}.csr`, `${name}.ext`].map(
      at,
    );
    if (cert === undefined || key === undefined || request === undefined || extension === undefined)
      throw new Error('A file has no name.');
    await writeFile(extension, `subjectAltName=${host}`);
    await openssl('req', '-new', ...newKey, '-keyout', key, '-out', request, '-subj', `/CN=${name}`);
    const signing = [
      '-CA',
      authority.cert,
      '-CAkey',
      authority.key,
      '-CAcreateserial',
      '-extfile',
      extension,
    ];
    await openssl('x509', '-req', '-in', request, ...signing, '-days', String(days), '-out', cert);
    return { cert, key };
  };
  return {
    authority: authority.cert,
    good: await signed('good', 'IP:127.0.0.1', 2),
    expired: await signed('expired', 'IP:127.0.0.1', -1),
    ofAnother: await signed('of-another', 'DNS:other.example', 2),
    selfSigned: await selfSigned('self-signed', '-addext', 'subjectAltName=IP:127.0.0.1'),
  };
}
