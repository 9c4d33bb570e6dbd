import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { Failure, reasonOf } from '../failure.ts';

const maxSocketPathBytes = 100; // 104 bytes on macOS, 108 on Linux (unix(7))

/** Path of the control socket for `npm stop` and `npm run stack`. Only the same user may connect. */
function controlSocket(stateDir: string): string {
  const inStateDir = join(stateDir, 'control.sock');
  if (Buffer.byteLength(inStateDir) <= maxSocketPathBytes) return inStateDir;
  const tag = createHash('sha256').update(stateDir).digest('hex').slice(0, 12);
  return join(tmpdir(), `fulfilment-${userInfo().uid}-${tag}`, 'control.sock');
}

/** The failure of a command that needs a suite which is not ready yet. */
export const notReady = new Failure('The suite is starting. `npm start` reports when it is ready.');

/** Handles a command of the running suite: from its name and argument to a response. */
export type Command = (name: string, argument: string) => Promise<unknown>;

/** Opens the control socket. Only one can be open, so there is one suite in a state directory. */
export async function serveControl(stateDir: string, command: Command): Promise<Server> {
  const path = controlSocket(stateDir);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (existsSync(path) && !(await isControlled(stateDir))) rmSync(path);
  const server = createServer((incoming, response) => {
    const [, name = '', argument = ''] = (incoming.url ?? '').split('/').map(decodeURIComponent);
    const respond = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    // Within the promise, so that a command may also throw synchronously.
    new Promise((resolve) => resolve(command(name, argument))).then(
      (result) => respond(200, result ?? null),
      (error: unknown) => respond(400, { reason: reasonOf(error) }),
    );
  });
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const isTaken = 'code' in error && error.code === 'EADDRINUSE';
      const reason = `The control socket could not be opened: ${error.message}`;
      reject(new Failure(isTaken ? `Another suite is starting or running in ${stateDir}.` : reason));
    });
    server.listen(path, () => resolve(server));
  });
}

/** Sends a command to the running suite. Returns undefined if none is running. */
export function control(
  stateDir: string,
  name: string,
  argument = '',
): Promise<{ result: unknown } | undefined> {
  return new Promise((resolve, reject) => {
    const path = ['', name, argument].map(encodeURIComponent).join('/');
    const outgoing = request({ socketPath: controlSocket(stateDir), path, agent: false }, (response) => {
      const chunks: string[] = [];
      response.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
      response.once('end', () => {
        const result: unknown = JSON.parse(chunks.join('') || 'null');
        if (response.statusCode === 200) resolve({ result });
        else reject(new Failure(reasonIn(result)));
      });
    });
    outgoing.once('error', (error) => {
      const code: unknown = Reflect.get(error, 'code');
      if (code === 'ENOENT' || code === 'ECONNREFUSED') resolve(undefined);
      else reject(new Failure(`The connection to the running suite was lost: ${error.message}`));
    });
    outgoing.end();
  });
}

async function isControlled(stateDir: string): Promise<boolean> {
  return (await control(stateDir, 'ping').catch(() => undefined)) !== undefined;
}

function reasonIn(body: unknown): string {
  const reason: unknown = body instanceof Object ? Reflect.get(body, 'reason') : undefined;
  return typeof reason === 'string' ? reason : 'The running suite does not support the command.';
}
