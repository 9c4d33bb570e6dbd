import { lstatSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { installMissing } from '../dev/dependencies/debian-packages.ts';
import { postgresPrograms } from '../dev/dependencies/postgres.ts';
import { rabbitmqProgram } from '../dev/dependencies/rabbitmq.ts';
import { redisProgram } from '../dev/dependencies/redis.ts';
import { say } from '../dev/output/progress.ts';
import { findProgram, runOrThrow } from '../dev/run-program.ts';

/** Programs that the containers run, by their Debian package. */
const programs: Readonly<Record<string, () => string | undefined>> = {
  postgresql: postgresProgram,
  'redis-server': redisProgram,
  'rabbitmq-server': rabbitmqProgram,
  'nginx-light': () => findProgram('nginx', ['/usr/sbin']),
  'gettext-base': () => findProgram('envsubst'),
  curl: () => findProgram('curl', ['/usr/bin']),
};
/** Needed by the Node.js that npm has installed. */
const libraries = ['libstdc++6'];

/** Links that replace the top-level folders of a Debian system with those in /usr. */
const mergedFolders = ['/bin', '/sbin', '/lib', '/lib64'];
const ifExists = { throwIfNoEntry: false } as const;
/** Files that the containers do not need. */
const unneeded = /^\/usr\/share\/(doc|man|info|locale|lintian|bash-completion|zoneinfo\/right)(\/|$)/;
/** The JIT compiler of PostgreSQL, which is optional and needs 170 MB of LLVM. */
const jitCompiler = /\/llvmjit\.so$|\/bitcode(\/|$)|\/libLLVM|\/libz3/;

/**
 * Writes a tar archive with the files of the Debian packages that the substitutes of base images need, and of
 * their dependencies. Installs missing packages first. An image of the archive can run their programs:
 * the paths are the same as on this machine.
 */
export async function archiveDebianPackages(archive: string): Promise<void> {
  const isInstalled = Object.fromEntries(
    Object.entries(programs).map(([name, find]) => [name, () => find() !== undefined]),
  );
  await installMissing(isInstalled, 'A substitute');
  const packages = await packagesOfPrograms();
  const format = ['--show', '--showformat', '${Package} ${Version}, '];
  const versions = await runOrThrow('dpkg-query', [...format, ...packages]);
  say(`The substitutes have the files of these Debian packages: ${versions.replace(/, $/, '')}.`);
  const list = `${archive}.list`;
  const files = await filesOfPackages([...packages, ...libraries]);
  writeFileSync(list, files.map((path) => `.${path}\0`).join(''));
  const input = ['--directory', '/', '--no-recursion', '--null', '--files-from', list];
  await runOrThrow('tar', ['--create', '--file', archive, '--numeric-owner', ...input]);
}

/** Returns the files, folders and links of the named packages and their dependencies. */
export async function filesOfPackages(names: readonly string[]): Promise<string[]> {
  const packages = await withDependencies(names);
  const output = await runOrThrow('dpkg-query', ['--listfiles', ...packages]);
  const listed = output.split('\n').filter((path) => path.startsWith('/') && path !== '/.');
  return [...new Set([...mergedFolders, ...listed.map(inRealFolder)])].filter(
    (path) => !unneeded.test(path) && !jitCompiler.test(path) && lstatSync(path, ifExists) !== undefined,
  );
}

function postgresProgram(): string | undefined {
  const folder = postgresPrograms();
  return folder === undefined ? undefined : join(folder, 'postgres');
}

/** Names of the packages that have the programs, such as `postgresql-17` for PostgreSQL. */
function packagesOfPrograms(): Promise<string[]> {
  return Promise.all(
    Object.values(programs).map(async (find) => {
      const output = await runOrThrow('dpkg-query', ['--search', inRealFolder(find() ?? '')]);
      return output.split(':')[0] ?? '';
    }),
  );
}

/** Resolves links in the folder of a path: PATH and the lists of packages may contain links such as /bin. */
function inRealFolder(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path; // its folder was deleted
  }
}

/** Returns the named packages, the essential packages, and the installed dependencies of both. */
async function withDependencies(names: readonly string[]): Promise<string[]> {
  const format = '${Package} ${Essential} ${db:Status-Status}\\n';
  const rows = (await runOrThrow('dpkg-query', ['--show', '--showformat', format]))
    .split('\n')
    .map((row) => row.split(' '));
  const installed = new Set(rows.filter(([, , status]) => status === 'installed').map(([name]) => name));
  const essential = rows.flatMap(([name = '', isEssential]) => (isEssential === 'yes' ? [name] : []));
  const ignoredRelations = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'];
  const options = ['--installed', '--recurse', ...ignoredRelations.map((name) => `--no-${name}`)];
  const output = await runOrThrow('apt-cache', ['depends', ...options, ...essential, ...names]);
  return [...new Set(output.split('\n'))].filter((name) => installed.has(name));
}
