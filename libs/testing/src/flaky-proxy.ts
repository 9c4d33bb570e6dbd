import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.js';

export type FlakyProxy = Awaited<ReturnType<typeof flakyProxy>>;

/** Starts a TCP proxy that interrupts the connections between clients and a server on demand. */
export async function flakyProxy(url: string) {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  let isDown = false;
  let packetsLeft = Infinity;
  let connectionsToReject = 0;
  const countPacket = (): void => {
    packetsLeft -= 1;
    if (packetsLeft === 0) setImmediate(sever);
  };
  const server = createServer((client) => {
    if (isDown || connectionsToReject > 0) {
      connectionsToReject = Math.max(0, connectionsToReject - 1);
      client.destroy();
      return;
    }
    client.on('data', countPacket);
    clients.add(client.once('close', () => clients.delete(client)));
    const upstream = connect(Number(target.port), target.hostname);
    pipe(client, upstream, sockets);
    pipe(upstream, client, sockets);
  });
  const { port, close } = await listen(server);
  const sever = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const proxied = new URL(url);
  proxied.hostname = '127.0.0.1';
  proxied.port = String(port);
  return {
    /** The server's URL with the address of the proxy. */
    url: proxied.href,
    /** Closes every open connection. New ones are accepted. */
    sever,
    /** Closes every connection and rejects new ones until `restore`, as if the server were down. */
    disconnect: (): void => {
      isDown = true;
      sever();
    },
    /** Silently discards all further data on the open connections. */
    discardData: (): void => {
      for (const socket of sockets) socket.unpipe().resume();
    },
    /** Ends `disconnect`, and cancels `severAfter` and `rejectNext`. */
    restore: (): void => {
      isDown = false;
      packetsLeft = Infinity;
      connectionsToReject = 0;
    },
    /**
     * Closes every connection once, after this many more packets of the clients. The server gets them, but
     * its response to the last one is lost.
     */
    severAfter: (packets: number): void => {
      packetsLeft = packets;
    },
    /** Whether the last packet of `severAfter` was received. */
    wasSevered: (): boolean => packetsLeft <= 0,
    /** Rejects this many of the next connections, as if the server were starting. */
    rejectNext: (connections: number): void => {
      connectionsToReject = connections;
    },
    /** Sends bytes to every connected client, as if they came from the server. */
    sendToClients: (bytes: Buffer): void => {
      for (const client of clients) client.write(bytes);
    },
    stop: (): Promise<void> => {
      sever();
      return close();
    },
  };
}

/** Forwards the data of a socket to another, and its end. The first one is in `sockets` while it is open. */
function pipe(from: Socket, to: Socket, sockets: Set<Socket>): void {
  sockets.add(from);
  from.on('error', () => to.destroy());
  from.on('close', () => {
    sockets.delete(from);
    to.destroy();
  });
  from.pipe(to);
}
