import { connect, createServer, type Socket } from 'node:net';
import { listen } from '@fulfilment/testing';

export interface FakePoolerOptions {
  /** Rejects the start-up parameter `options`, like PgBouncer without `ignore_startup_parameters`. */
  readonly rejectsOptions?: boolean;
  /** All clients share one session, as in transaction mode. They must send one statement at a time. */
  readonly sharesSession?: boolean;
}

export interface FakePooler {
  /** The URL with the address of the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

// Messages of PostgreSQL's protocol ("Message Formats").
/** The server's last message of the sign-in. */
const readyForQuery = Buffer.from('Z\0\0\0\u0005I', 'latin1');
/** First byte of the message by which a client disconnects. */
const terminate = 'X'.charCodeAt(0);
/** Length and protocol version, before the parameters. */
const startupHeaderBytes = 8;

/** Starts a fake connection pooler that drops the start-up parameter `options`. */
export async function startFakePooler(url: string, options: FakePoolerOptions = {}): Promise<FakePooler> {
  const { rejectsOptions = false, sharesSession = false } = options;
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  /** With `sharesSession`: the session of all clients. */
  let sharedSession: Socket | undefined;
  /** The client that gets the next response of the shared session. */
  let sender: Socket | undefined;
  const server = createServer((client) => {
    const ownSession = track(connect(Number(target.port), target.hostname));
    let isSignedIn = false;
    track(client).once('data', (startup) => {
      if (rejectsOptions && startup.includes('\0options\0')) return client.end(rejection());
      ownSession.write(withoutOptions(startup));
      return client.on('data', (bytes) => {
        const disconnects = bytes[0] === terminate;
        if (!isSignedIn || !sharesSession) ownSession.write(bytes);
        else if (!disconnects) {
          sharedSession ??= ownSession;
          sender = client;
          sharedSession.write(bytes);
        }
      });
    });
    ownSession.on('data', (bytes) => {
      // Each client signs in to a session of its own. Later, responses of the shared one go to the sender.
      (isSignedIn && sharesSession ? sender : client)?.write(bytes);
      isSignedIn ||= bytes.includes(readyForQuery);
    });
  });
  const { port, close } = await listen(server);
  const proxied = new URL(url);
  proxied.hostname = '127.0.0.1';
  proxied.port = String(port);
  return {
    url: proxied.href,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      return close();
    },
  };
}

function withoutOptions(startup: Buffer): Buffer {
  const fields = startup.subarray(startupHeaderBytes).toString('latin1').split('\0');
  const index = fields.indexOf('options');
  const body = Buffer.from((index === -1 ? fields : fields.toSpliced(index, 2)).join('\0'), 'latin1');
  return Buffer.concat([int32(startupHeaderBytes + body.length), startup.subarray(4, 8), body]);
}

function rejection(): Buffer {
  // The first letter of a field is its type: severity, code, message.
  const fields = ['SFATAL', 'C08P01', 'Munsupported startup parameter in options: statement_timeout', '', ''];
  const body = Buffer.from(fields.join('\0'), 'latin1');
  return Buffer.concat([Buffer.from('E'), int32(4 + body.length), body]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
