import { createServer, connect, type Socket } from 'node:net';
import { readFileSync } from 'node:fs';
import { TLSSocket } from 'node:tls';
import type { Certificates } from './certificates.js';
import { listen } from './listen.js';

/** Size of SSLRequest, to which PostgreSQL replies with one byte ("SSL Session Encryption"). */
const sslRequestBytes = 8;

export type TlsProxy = Awaited<ReturnType<typeof tlsProxy>>;

/**
 * Starts a proxy that accepts TLS connections and forwards their data to a store over plain TCP.
 * @param isPostgres whether clients send SSLRequest first, as PostgreSQL's do
 */
export async function tlsProxy(
  storeUrl: string,
  { certificateFile, keyFile }: Pick<Certificates, 'certificateFile' | 'keyFile'>,
  { isPostgres = false } = {},
) {
  const target = new URL(storeUrl);
  const identity = { cert: readFileSync(certificateFile), key: readFileSync(keyFile) };
  const sockets = new Set<Socket>();
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const serve = (socket: Socket): void => {
    const client = new TLSSocket(socket, { isServer: true, ...identity });
    const upstream = connect(Number(target.port), target.hostname);
    track(upstream);
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    client.pipe(upstream).pipe(client);
  };
  const server = createServer((socket) => {
    track(socket);
    if (!isPostgres) return serve(socket);
    socket.once('readable', () => {
      if (socket.read(sslRequestBytes) === null) return socket.destroy();
      socket.write('S');
      serve(socket);
    });
  });
  const { port, close } = await listen(server);
  return {
    port,
    stop: (): Promise<void> => {
      for (const socket of sockets) socket.destroy();
      return close();
    },
  };
}
