import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.js';

export interface SeverableProxy {
  /** The same address, by way of the proxy. */
  readonly url: string;
  /** Cuts every connection that is open now; new ones are let through. */
  sever(): void;
  stop(): Promise<void>;
}

/** Stands between a client and its server, to cut the line at will. */
export async function severableProxy(url: string): Promise<SeverableProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
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
    stop: () => {
      sever();
      return close();
    },
  };
}
