import { certificatesIn, listen } from '@fulfilment/testing';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
  type TlsOptions,
} from 'node:tls';
import { GuardedClient, type GuardedClientSettings, type GuardedRequest } from './guarded-client.js';

const limits = { deadlineMs: 60_000, bodyTimeoutMs: 10_000, maxReadBytes: 16_384, maxKeptBytes: 4_096 };
const stops: (() => Promise<void>)[] = [];

/** Creates a client, which `stopAll` closes. */
export function newClient(settings: Partial<GuardedClientSettings> = {}): GuardedClient {
  const client = new GuardedClient({ allowLoopback: true, ...settings });
  stops.push(() => client.close());
  return client;
}

/** Starts an HTTP server. Returns its URL. */
export async function serve(listener: RequestListener): Promise<string> {
  const { port, close } = await listen(createServer(listener));
  stops.push(close);
  return `http://127.0.0.1:${port}/`;
}

/** Starts a TCP server, which can respond with any bytes. Returns its URL, and its number of connections. */
export async function serveRaw(onConnection: (socket: Socket) => void) {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  const { port, close } = await listen(server);
  stops.push(() => {
    for (const socket of sockets) socket.destroy();
    return close();
  });
  return { url: `http://127.0.0.1:${port}/`, connections: () => sockets.length };
}

/** Starts a server that resets connections after its part of the TLS handshake. Returns its URL. */
export async function serveResetHandshakes(): Promise<string> {
  const { port, close } = await listen(createTlsServer(await trustedCertificate()));
  stops.push(close);
  const { url } = await serveRaw((client) => {
    const upstream = connect(port, '127.0.0.1').on('error', () => undefined);
    client.on('data', (chunk) => upstream.write(chunk));
    client.on('close', () => upstream.destroy());
    upstream.once('data', (records) => client.write(records, () => client.resetAndDestroy()));
  });
  return url.replace('http:', 'https:');
}

/** Creates a certificate of 127.0.0.1, which this process trusts until `stopAll`. */
async function trustedCertificate(): Promise<TlsOptions> {
  const directory = mkdtempSync(join(tmpdir(), 'certificates-'));
  const files = await certificatesIn(directory);
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, readFileSync(files.caFile, 'utf8')]);
  stops.push(() => {
    setDefaultCACertificates(trusted);
    rmSync(directory, { recursive: true });
    return Promise.resolve();
  });
  return { cert: readFileSync(files.certificateFile), key: readFileSync(files.keyFile) };
}

/** Returns a POST request with long timeouts. It reads up to 16 KiB of the response body, and keeps 4 KiB. */
export function postRequest(url: string, changes: Partial<GuardedRequest> = {}): GuardedRequest {
  return { method: 'POST', url, headers: {}, body: Buffer.from('{}'), ...limits, ...changes };
}

/** Closes everything that a test has opened. */
export async function stopAll(): Promise<void> {
  for (const stop of stops.splice(0).toReversed()) await stop();
}
