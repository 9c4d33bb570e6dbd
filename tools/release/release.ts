import { type ServiceName, serviceNames } from '@fulfilment/contracts/permissions';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { releaseSubject } from '../compatibility/release-code.ts';
import { contractFilesOf, releasedContractsDir } from '../compatibility/documents.ts';
import { runNx } from '../dev/build.ts';
import { Failure, runMain } from '../dev/failure.ts';
import { git } from '../dev/git.ts';
import { say } from '../dev/output/progress.ts';
import { runOrThrow } from '../dev/run-program.ts';
import { root } from '../dev/settings.ts';
import { overlayFolder, overlays } from '../kubernetes/manifests.ts';
import { changes, describeMigration, settingsOf, upgradeNote, withNote } from './upgrade-note.ts';
import { readVersion } from './version.ts';

const help = `npm run release: gives each changed service a version, a changelog and an upgrade note, and tags it.

The version follows from the commits since the last tag of the service (fix: 1.0.1, feat: 1.1.0, breaking: 2.0.0).
Check first that each service can be deployed: npm run compatibility.

  --version VERSION   this version for all services
  --projects NAMES    only these services, separated by commas, such as store-api,creator-api
  --dry-run           only print the versions`;

const configurationFile = 'docs/reference/configuration.md';
const messagesFile = 'docs/reference/asyncapi.json';
const asyncApi = z.object({ components: z.object({ messages: z.record(z.string(), z.unknown()) }) });

/** This program commits and tags, since Nx would omit files such as UPGRADING.md. */
const withoutGit = ['--git-commit=false', '--git-tag=false', '--stage-changes=false'];

async function main(): Promise<number> {
  const { values: options } = parseArgs({
    options: {
      version: { type: 'string' },
      projects: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
    },
  });
  if (!options['dry-run'] && (await git('status', '--porcelain')) !== '')
    throw new Failure('There are uncommitted changes: commit them first.');
  const before = new Map(serviceNames.map((name) => [name, versionOf(name)]));
  if ((await git('tag', '--list', '@fulfilment/*')) === '')
    throw new Failure('The tags of earlier releases are missing: git fetch --tags');
  await nxRelease(
    'version',
    ...(options.version === undefined ? [] : [options.version]),
    ...(options.projects === undefined ? [] : [`--projects=${options.projects}`]),
    ...(options['dry-run'] ? ['--dry-run'] : withoutGit),
  );
  if (options['dry-run']) return 0;

  const released = serviceNames.filter((name) => versionOf(name) !== before.get(name));
  if (released.length === 0) {
    say('No service has changed since its last release.');
    return 0;
  }
  for (const service of released) {
    const lastTag = await readLastTag(service);
    await writeUpgradeNote(service, lastTag);
    await writeChangelog(service, lastTag);
  }
  writeContracts(released);
  writeImageTags();
  await runOrThrow('npm', ['run', '-s', 'format'], { cwd: root, env: process.env });
  const names = released.map((name) => `${name} ${versionOf(name)}`).join(', ');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', releaseSubject, '--message', names);
  for (const service of released) await git('tag', `@fulfilment/${service}@${versionOf(service)}`);
  say(`Released: ${names}`);
  return 0;
}

async function readLastTag(service: string): Promise<string | undefined> {
  const tags = await git('tag', '--list', `@fulfilment/${service}@*`, '--sort=-version:refname');
  return tags.split('\n').find((tag) => tag !== '');
}

/** Lists the commits since the last tag, by their conventional subjects. */
async function writeChangelog(service: ServiceName, lastTag: string | undefined): Promise<void> {
  const version = versionOf(service);
  const path = changelogOf(service);
  if (lastTag === undefined) writeFileSync(path, `## ${version}\n\nThe first release.\n`);
  else await nxRelease('changelog', version, `--projects=@fulfilment/${service}`, ...withoutGit);
}

async function writeUpgradeNote(service: ServiceName, lastTag: string | undefined): Promise<void> {
  const migrationsDir = `apps/${service}/src/migrations`;
  const isMigration = /^\d{4}-[\w-]+\.ts$/;
  const readNow = (path: string): string => readFileSync(join(root, path), 'utf8');
  const readReleased = async (path: string): Promise<string> =>
    lastTag === undefined ? '' : await git('show', `${lastTag}:${path}`);
  const added =
    lastTag === undefined
      ? ''
      : await git('diff', '--name-only', '--diff-filter=A', lastTag, '--', migrationsDir);
  const messagesIn = (text: string): string[] =>
    text === '' ? [] : Object.keys(asyncApi.parse(JSON.parse(text)).components.messages);
  const note = upgradeNote({
    version: versionOf(service),
    previous: lastTag?.slice(lastTag.lastIndexOf('@') + 1),
    migrations: added
      .split('\n')
      .filter((path) => isMigration.test(basename(path)))
      .map((path) => describeMigration(basename(path), readNow(path))),
    settings: changes(
      settingsOf(service, await readReleased(configurationFile)),
      settingsOf(service, readNow(configurationFile)),
    ),
    messages: changes(messagesIn(await readReleased(messagesFile)), messagesIn(readNow(messagesFile))),
  });
  const path = join(root, 'apps', service, 'UPGRADING.md');
  writeFileSync(path, withNote(existsSync(path) ? readFileSync(path, 'utf8') : undefined, note));
}

/** Copies the contracts of the released services, with which `npm run check` compares later ones. */
function writeContracts(released: readonly ServiceName[]): void {
  mkdirSync(join(root, releasedContractsDir), { recursive: true });
  for (const file of contractFilesOf(released))
    copyFileSync(join(root, 'docs', 'reference', file), join(root, releasedContractsDir, file));
}

/** Sets the released images in the Kubernetes overlays. Jobs are immutable, so each release renames them. */
function writeImageTags(): void {
  // Lower case, as names must be. Keeps the letter T, because YAML reads digits as a number, which kubectl
  // rejects.
  const suffix = new Date().toISOString().slice(0, 16).replace(/[-:]/g, '').toLowerCase();
  for (const overlay of overlays.map(overlayFolder)) {
    const images = join(overlay, 'kustomization.yaml');
    const text = serviceNames.reduce(
      (file, name) => file.replace(new RegExp(`(name: ${name}, newTag: )[\\w.-]+`), `$1${versionOf(name)}`),
      readFileSync(images, 'utf8'),
    );
    writeFileSync(images, text);
    const jobs = join(overlay, 'migrations', 'kustomization.yaml');
    writeFileSync(jobs, readFileSync(jobs, 'utf8').replace(/^nameSuffix: .*$/m, `nameSuffix: -${suffix}`));
  }
}

function changelogOf(service: ServiceName): string {
  return join(root, 'apps', service, 'CHANGELOG.md');
}

function versionOf(service: ServiceName): string {
  return readVersion(join('apps', service));
}

async function nxRelease(...args: string[]): Promise<void> {
  const { code, output } = await runNx(['release', ...args], { onLine: say });
  if (code !== 0) throw new Failure(output.trim());
}

runMain(main, help);
