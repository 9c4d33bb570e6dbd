import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A TCP proxy with a fixed address, like HAProxy. It can be redirected to another server. Its link can be
 * cut: then connections stay open, but no data arrives, as after a failure of the network.
 */
export class StableAddress {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private targetPort: number | undefined;
  private isCut = false;

  constructor(targetPort: number) {
    this.targetPort = targetPort;
    this.server = createServer((incoming) => this.accept(incoming));
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, '127.0.0.1', () => resolve());
    });
  }

  /** Ends every connection. New ones lead to the server at this port; without a port they are closed. */
  redirectTo(targetPort: number | undefined): void {
    this.targetPort = targetPort;
    for (const socket of this.sockets) socket.destroy();
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.unpipe().resume(); // what arrives is lost
  }

  /** Lets new connections through. Those that were open during the cut stay silent until closed. */
  restore(): void {
    this.isCut = false;
  }

  close(): Promise<void> {
    this.redirectTo(undefined);
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private accept(incoming: Socket): void {
    incoming.on('error', () => undefined);
    if (this.targetPort === undefined) return void incoming.destroy();
    this.track(incoming);
    if (this.isCut) return void incoming.resume();
    const outgoing = connect(this.targetPort, '127.0.0.1');
    this.track(outgoing);
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      from.setNoDelay(true);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  }

  private track(socket: Socket): void {
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
  }
}
