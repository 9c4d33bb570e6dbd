import { createHash } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../failure.ts';
import { findProgram, runOrThrow, namesIn, runProgram, type UserIds } from '../run-program.ts';
import { type Settings, stateDirHash } from '../settings.ts';
import { processStartTime } from '../supervisor/process-tree.ts';
import { type Dependency, ownUrl, type DependencyContext } from './dependency.ts';
import { postgresResponds } from './readiness.ts';

const debianFolder = '/usr/lib/postgresql';
const systemUser = 'postgres';

/**
 * Folder of the server programs of a major version, such as "17"; without it, of the newest installed
 * version. Where Debian's folder has no version, the programs in PATH are used without a check of their
 * version.
 */
export function postgresPrograms(majorVersion?: string): string | undefined {
  const versions = namesIn(debianFolder)
    .filter((name) => /^\d+$/.test(name))
    .toSorted((a, b) => Number(b) - Number(a));
  const candidates =
    majorVersion === undefined ? versions : versions.filter((version) => version === majorVersion);
  const debian = candidates
    .map((version) => join(debianFolder, version, 'bin'))
    .find((bin) => findProgram('postgres', [bin]) === join(bin, 'postgres'));
  if (debian !== undefined) return debian;
  return versions.length > 0 ? undefined : findProgram('postgres')?.replace(/\/postgres$/, '');
}

export async function preparePostgres(context: DependencyContext): Promise<Dependency> {
  const { settings, ports, secrets } = context;
  const user = await serverUser();
  const home = await dataHome(settings, user);
  const isOutsideStateDir = !home.startsWith(settings.stateDir);
  if (isOutsideStateDir) {
    context.note(
      `PostgreSQL must not run as root, and its user cannot access ${settings.stateDir}; its data is in ${home}.`,
    );
  }
  const data = join(home, 'data');
  const bin = postgresPrograms(dataVersion(data));
  if (bin === undefined) {
    throw new Failure(
      `The data in ${data} requires PostgreSQL ${dataVersion(data) ?? '?'}, which is no longer installed. To delete the data, run: npm run reset`,
    );
  }
  // Identifies the owner of the data without revealing the password.
  const owner = createHash('sha256').update(`owner:${secrets.postgresPassword}`).digest('hex');
  if (isOutsideStateDir) removeOrphan(home, owner);
  if (!existsSync(data)) await initialise(bin, home, secrets.postgresPassword, user);
  writeFileSync(join(home, 'owner'), owner);
  const options = serverOptions(ports.postgres, settings);
  const url = ownUrl('postgres', context);
  return {
    name: 'postgres',
    url,
    processes: [
      {
        name: 'postgres',
        kind: 'dependency',
        program: join(bin, 'postgres'),
        args: ['-D', data, ...Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
        cwd: '/',
        env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
        user,
        stopSignal: 'SIGINT', // fast shutdown: terminates sessions instead of waiting for them
        stopTimeoutMs: 15_000,
        prepare: () => Promise.resolve(removeStaleLock(data)),
        ready: () => postgresResponds(url),
      },
    ],
  };
}

function serverOptions(port: number, { fsync }: Settings): Readonly<Record<string, string | number>> {
  return {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 300, // for five replicas of every service (docs/runbook.md, "Connections to PostgreSQL")
    shared_buffers: '128MB',
    max_wal_size: '1GB',
    ...(!fsync && { fsync: 'off' }),
    log_min_messages: 'warning',
    log_timezone: 'UTC',
    timezone: 'UTC',
  };
}

/**
 * The data folders in and outside of the state directory; `npm run reset` deletes both. PostgreSQL keeps its
 * data outside if its user cannot access the state directory.
 */
export function postgresHomes(settings: Settings) {
  const outsideParent = join('/var/tmp', `fulfilment-${stateDirHash(settings)}`);
  return {
    inStateDir: join(settings.stateDir, 'postgres'),
    outside: join(outsideParent, 'postgres'),
    outsideParent,
  };
}

/** Returns the user for the server, since PostgreSQL does not run as root. Debian's package creates one. */
export async function serverUser(): Promise<UserIds | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const id = async (option: string): Promise<number> =>
    Number((await runProgram('id', [option, systemUser])).output);
  const user = { uid: await id('-u'), gid: await id('-g') };
  if (Number.isInteger(user.uid) && user.uid > 0) return user;
  throw new Failure(
    `PostgreSQL must not run as root, and the user "${systemUser}" does not exist. Create it (useradd --system ${systemUser}) or start the suite as another user.`,
  );
}

async function dataHome(settings: Settings, user: UserIds | undefined): Promise<string> {
  const { inStateDir, outside } = postgresHomes(settings);
  if (user === undefined) return inStateDir;
  const test = await runProgram('test', ['-x', settings.stateDir], { user, cwd: '/' });
  return test.code === 0 ? inStateDir : outside;
}

/** Deletes data outside the state directory that a deleted clone at the same path left. */
function removeOrphan(home: string, owner: string): void {
  const mark = join(home, 'owner');
  const isOwn = existsSync(mark) && readFileSync(mark, 'utf8') === owner;
  if (!isOwn) rmSync(home, { recursive: true, force: true });
}

function dataVersion(data: string): string | undefined {
  const file = join(data, 'PG_VERSION');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

/**
 * Removes the lock file of a killed server. In a container without an init process the server stays a zombie,
 * which PostgreSQL takes for a running server.
 */
function removeStaleLock(data: string): void {
  const lock = join(data, 'postmaster.pid');
  if (!existsSync(lock)) return;
  const pid = Number(readFileSync(lock, 'utf8').split('\n')[0]);
  if (processStartTime(pid) === undefined) rmSync(lock);
}

/** Creates the data in a temporary folder and renames it, so that an interrupted start leaves nothing. */
async function initialise(
  bin: string,
  home: string,
  password: string,
  user: UserIds | undefined,
): Promise<void> {
  const fresh = join(home, 'data.new');
  const passwordFile = join(home, 'password');
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user !== undefined) for (const path of [home, passwordFile]) chownSync(path, user.uid, user.gid);
  // macOS has no C.UTF-8; plain C would not fold the case of non-ASCII letters.
  const locale = process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8';
  await runOrThrow(
    join(bin, 'initdb'),
    [
      `--pgdata=${fresh}`,
      '--username=suite',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      `--locale=${locale}`,
    ],
    { user, cwd: '/', env: { PATH: '/usr/bin:/bin' } },
  );
  rmSync(passwordFile);
  renameSync(fresh, join(home, 'data'));
}
