import { eventually, freePort } from '@fulfilment/testing';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withClient } from './with-client.js';

const run = promisify(execFile);
const debianFolder = '/usr/lib/postgresql';
const readyTimeoutMs = 60_000;
const serverOptions = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  shared_buffers: '16MB',
  log_min_messages: 'panic',
};
/** Runs the server until the standard input closes, so that it stops even if the test run is killed. */
const runUntilInputCloses =
  'program=$1; shift; "$program" "$@" & server=$!; read -r _; kill -QUIT "$server"; wait "$server"';

export interface StreamingReplica {
  readonly primaryUrl: string;
  readonly replicaUrl: string;
  /** Makes the replica receive writes without showing them, until `resumeReplay`. */
  pauseReplay(): Promise<void>;
  resumeReplay(): Promise<void>;
  /** Makes the replica accept writes; it no longer follows the primary. */
  promoteReplica(): Promise<void>;
  stopReplica(): Promise<void>;
  startReplica(): Promise<void>;
  /** Stops both servers and deletes their data. */
  stop(): Promise<void>;
}

interface User {
  readonly uid?: number;
  readonly gid?: number;
}

/** Starts a PostgreSQL server with a database of its own, and a streaming replica of it. */
export async function streamingReplica(): Promise<StreamingReplica> {
  const programFolder = findProgramFolder();
  const user = await serverUser();
  const folder = mkdtempSync(join(tmpdir(), 'replica-'));
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const [primaryData, replicaData] = [join(folder, 'primary'), join(folder, 'replica')];
  const ports = { primary: await freePort(), replica: await freePort() };
  const urlOf = (port: number): string => `postgres://suite@127.0.0.1:${port}/postgres`;
  const [primaryUrl, replicaUrl] = [urlOf(ports.primary), urlOf(ports.replica)];
  const options = { ...user, cwd: '/' };
  const accountArgs = ['--username=suite', '--auth=trust'];
  const storageArgs = [`--pgdata=${primaryData}`, '--encoding=UTF8', '--locale=C', '--no-sync'];
  await run(join(programFolder, 'initdb'), [...accountArgs, ...storageArgs], options);
  const postgres = join(programFolder, 'postgres');
  const stopPrimary = await startServer(postgres, primaryData, primaryUrl, options);
  const copyArgs = ['-D', replicaData, '-d', primaryUrl, '-R', '--checkpoint=fast', '--no-sync'];
  await run(join(programFolder, 'pg_basebackup'), copyArgs, options);
  const startReplica = () => startServer(postgres, replicaData, replicaUrl, options);
  let stopReplica: (() => Promise<void>) | undefined = await startReplica();
  const replica: StreamingReplica = {
    primaryUrl,
    replicaUrl,
    pauseReplay: async () => {
      await query(replicaUrl, 'SELECT pg_wal_replay_pause()');
      const isPaused = "SELECT 1 FROM pg_get_wal_replay_pause_state() AS state WHERE state = 'paused'";
      await eventually(async () => (await query(replicaUrl, isPaused)) > 0);
    },
    resumeReplay: async () => {
      await query(replicaUrl, 'SELECT pg_wal_replay_resume()');
    },
    promoteReplica: async () => {
      await query(replicaUrl, 'SELECT pg_promote()');
    },
    stopReplica: async () => {
      await stopReplica?.();
      stopReplica = undefined;
    },
    startReplica: async () => {
      stopReplica = await startReplica();
    },
    stop: async () => {
      await replica.stopReplica();
      await stopPrimary();
      await run('rm', ['-rf', folder]);
    },
  };
  return replica;
}

/** Starts a server on the port of its URL. Returns a function that stops it. */
async function startServer(
  postgres: string,
  dataFolder: string,
  url: string,
  options: User & { readonly cwd: string },
): Promise<() => Promise<void>> {
  const { port } = new URL(url);
  const flags = Object.entries({ ...serverOptions, port }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const args = ['-c', runUntilInputCloses, 'sh', postgres, '-D', dataFolder, ...flags];
  const server = spawn('sh', args, { ...options, stdio: ['pipe', 'ignore', 'ignore'] });
  const isReady = () => query(url, 'SELECT 1').catch(() => undefined);
  await eventually(isReady, { timeoutMs: readyTimeoutMs, describe: () => 'PostgreSQL does not respond' });
  return async () => {
    const ended = once(server, 'exit');
    server.stdin.end();
    await ended;
  };
}

/** Debian has the programs of each version in a folder outside of PATH. */
function findProgramFolder(): string {
  const versions = existsSync(debianFolder)
    ? readdirSync(debianFolder).map((version) => join(debianFolder, version, 'bin'))
    : [];
  const folders = [...versions.toReversed(), ...(process.env['PATH'] ?? '').split(':')];
  const found = folders.find((bin) =>
    ['initdb', 'pg_basebackup', 'postgres'].every((name) => existsSync(join(bin, name))),
  );
  if (found === undefined)
    throw new Error('Install the server programs of PostgreSQL: this test starts a replica.');
  return found;
}

/** PostgreSQL does not run as root. Debian's package creates a user for it. */
async function serverUser(): Promise<User> {
  if (process.getuid?.() !== 0) return {};
  const id = async (option: string): Promise<number> =>
    Number((await run('id', [option, 'postgres'])).stdout);
  return { uid: await id('-u'), gid: await id('-g') };
}

/** Runs a query. Returns the number of its rows. */
async function query(url: string, sql: string): Promise<number> {
  return (await withClient(url, (client) => client.query(sql))).rowCount ?? 0;
}
