import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * An address that leads to a server, as a DNS name or HAProxy does. It can lead to another server, and its
 * link can be cut: then nothing arrives any more, as when a cable is pulled.
 */
export class StableAddress {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private target: number | undefined;
  private isCut = false;

  constructor(target: number) {
    this.target = target;
    this.server = createServer((near) => this.accept(near));
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, '127.0.0.1', () => resolve());
    });
  }

  /** Ends every connection. New ones lead to the server at this port, or are rejected while there is none. */
  moveTo(target: number | undefined): void {
    this.target = target;
    for (const socket of this.sockets) socket.destroy();
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.unpipe().resume(); // what arrives is lost
  }

  /** The connections that were cut stay silent until their ends give up. */
  restore(): void {
    this.isCut = false;
  }

  close(): Promise<void> {
    this.moveTo(undefined);
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private accept(near: Socket): void {
    near.on('error', () => undefined);
    if (this.target === undefined) return void near.destroy();
    this.keep(near);
    if (this.isCut) return void near.resume();
    const far = connect(this.target, '127.0.0.1');
    this.keep(far);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.setNoDelay(true);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
  }
}
