import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.js';

export interface SeverableProxy {
  /** The same address, by way of the proxy. */
  readonly url: string;
  /** Cuts every connection that is open now; new ones are let through. */
  sever(): void;
  /** Cuts every connection and refuses new ones, as if the server were gone, until `restore`. */
  takeAway(): void;
  restore(): void;
  /** Loses, on every connection that is open now, whatever is sent from now on; nobody is told. */
  lose(): void;
  /** Cuts every connection, once, right after this many more packets went to the server: it gets them, and nobody its answer. */
  severAfter(packets: number): void;
  /** Says this to every client that is connected now, as if the server had. */
  say(bytes: Buffer): void;
  stop(): Promise<void>;
}

/** Stands between a client and its server, to cut the line at will. */
export async function severableProxy(url: string): Promise<SeverableProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  let away = false;
  let packetsLeft = Infinity;
  const countPacket = (): void => {
    packetsLeft -= 1;
    if (packetsLeft === 0) setImmediate(sever);
  };
  const server = createServer((near) => {
    if (away) {
      near.destroy();
      return;
    }
    near.on('data', countPacket);
    clients.add(near.once('close', () => clients.delete(near)));
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  const { port, close } = await listen(server);
  const sever = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const proxied = new URL(url);
  proxied.hostname = '127.0.0.1';
  proxied.port = String(port);
  return {
    url: proxied.href,
    sever,
    takeAway: () => {
      away = true;
      sever();
    },
    lose: () => {
      for (const socket of sockets) socket.unpipe().resume();
    },
    restore: () => {
      away = false;
      packetsLeft = Infinity;
    },
    severAfter: (packets) => {
      packetsLeft = packets;
    },
    say: (bytes) => {
      for (const client of clients) client.write(bytes);
    },
    stop: () => {
      sever();
      return close();
    },
  };
}
