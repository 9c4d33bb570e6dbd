import { serviceNames } from '@fulfilment/contracts/permissions';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { buildSite } from '../dev/build.ts';
import { Failure, reasonOf } from '../dev/failure.ts';
import { git } from '../dev/git.ts';
import { say, secondsSince } from '../dev/output/progress.ts';
import { runOrThrow } from '../dev/run-program.ts';
import { root, siteDir } from '../dev/settings.ts';
import { readVersion } from '../release/version.ts';
import { baseImage, type BaseName } from './base-images.ts';
import type { Engine } from './engine.ts';
import { sbom } from './sbom.ts';

export const apps = [...serviceNames, 'bootstrap'] as const;
type ImageName = (typeof apps)[number] | 'gateway';

/** Maximum compressed size of what an image adds to its base. */
const maxCompressedMegabytes = 40;
const sbomDir = join(root, 'dist', 'images');
/** The documentation site in the folder from which the image of the gateway is built. */
const gatewaySiteDir = join(root, 'deploy', 'gateway', 'dist');

/**
 * Builds all images from the working tree, and writes the SBOM of each app into `dist/images`.
 * @param isBuilt whether `dist/apps` has the deployable folders; otherwise the images build them
 */
export async function buildImages(
  engine: Engine,
  { tag, isBuilt }: { readonly tag: string; readonly isBuilt: boolean },
): Promise<void> {
  mkdirSync(sbomDir, { recursive: true });
  const { revision, time } = await readSourceState();
  const gatewayArgs = {
    VERSION: readVersion('.'),
    REVISION: revision,
    NGINX_IMAGE: await pinnedBase(engine, 'nginx'),
  };
  const appArgs = {
    REVISION: revision,
    NODE_IMAGE: await pinnedBase(engine, 'node'),
    SOURCE_DATE_EPOCH: time,
    ...(isBuilt ? { FOLDERS: await importFolders(engine) } : {}),
  };
  rmSync(gatewaySiteDir, { recursive: true, force: true });
  try {
    if (!isBuilt) await buildSite();
    if (!existsSync(siteDir)) throw new Failure('the site is not built.');
    cpSync(siteDir, gatewaySiteDir, { recursive: true });
  } catch (error) {
    say(`  The image of the gateway has no documentation: ${reasonOf(error)}`);
  }
  for (const app of apps) {
    const image = await buildImage(engine, {
      name: app,
      tag,
      source: appSource(app, appArgs),
      folder: '/suite',
    });
    const document = sbom(app, { os: 'linux', cpu: await cpuOf(engine, image), libc: 'glibc' });
    writeFileSync(join(sbomDir, `${app}.cdx.json`), `${JSON.stringify(document, null, 2)}\n`);
  }
  const gatewaySource = [...buildArgs(gatewayArgs), join(root, 'deploy', 'gateway')];
  await buildImage(engine, { name: 'gateway', tag, source: gatewaySource, folder: '/gateway' });
}

/** The arguments of `docker build` from which the image of an app is built. */
export function appSource(app: string, args: Readonly<Record<string, string>>): string[] {
  return [
    '--file',
    join(root, 'deploy', 'docker', 'Dockerfile'),
    ...(app === 'bootstrap' ? ['--target', 'bootstrap'] : []),
    ...buildArgs({ ...args, APP: app, VERSION: readVersion(join('apps', app)) }),
    root,
  ];
}

function buildArgs(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
}

interface ImagePlan {
  readonly name: ImageName;
  readonly tag: string;
  /** Arguments of `docker build`: options, and the folder of the source. */
  readonly source: readonly string[];
  /** The folder that the image adds to its base. */
  readonly folder: string;
}

/** Builds an image, and returns its name. @throws Failure if it is too large */
async function buildImage(engine: Engine, { name, tag, source, folder }: ImagePlan): Promise<string> {
  const startedAtMs = performance.now();
  const image = `fulfilment/${name}:${tag}`; // as in deploy/compose.yaml
  // The host's network, so that a registry or proxy on this machine can be used.
  await engine.dockerOrThrow(['build', '--network', 'host', '--tag', image, ...source]);
  const megabytes = (await compressedBytes(engine, image, folder)) / 1e6;
  say(
    `  ${image.padEnd(36)} ${megabytes.toFixed(1).padStart(5)} MB compressed above its base   ${secondsSince(startedAtMs)}`,
  );
  if (megabytes > maxCompressedMegabytes)
    throw new Failure(`${image} adds more than ${maxCompressedMegabytes} MB.`);
  return image;
}

/** Returns the architecture of an image in the words of npm. */
async function cpuOf(engine: Engine, image: string): Promise<string> {
  const format = ['--format', '{{.Architecture}}'];
  const architecture = (await engine.dockerOrThrow(['image', 'inspect', ...format, image])).trim();
  return architecture === 'amd64' ? 'x64' : architecture;
}

/** Returns the size in bytes of a folder of an image, compressed by gzip as a registry stores it. */
async function compressedBytes(engine: Engine, image: string, folder: string): Promise<number> {
  const container = (await engine.dockerOrThrow(['create', image])).trim();
  try {
    const { program, environment } = engine;
    const script = 'set -o pipefail; "$0" cp "$1" - | gzip | wc -c';
    const output = await runOrThrow('bash', ['-c', script, program, `${container}:${folder}`], {
      env: environment,
    });
    return Number(output);
  } finally {
    await engine.dockerOrThrow(['rm', container]);
  }
}

/** An image with the deployable folders of this machine, where the Dockerfile expects them. */
async function importFolders(engine: Engine): Promise<string> {
  const missing = apps.filter((app) => !existsSync(join(root, 'dist', 'apps', app)));
  if (missing.length > 0) throw new Failure(`dist/apps has no ${missing.join(', ')}. Run without --built.`);
  const image = 'fulfilment/folders';
  const directory = mkdtempSync(join(tmpdir(), 'folders-'));
  try {
    const archive = join(directory, 'folders.tar');
    // The archive is one file, which the engine takes faster than thousands. `S` keeps the targets of links.
    await runOrThrow('tar', ['-C', root, '--transform', 's,^,suite/,S', '-cf', archive, 'dist/apps']);
    await engine.dockerOrThrow(['import', archive, image]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return image;
}

/** Returns the base image by digest if it came from a registry, so that the image records its exact base. */
async function pinnedBase(engine: Engine, name: BaseName): Promise<string> {
  const image = baseImage(name);
  const inspected = await engine.docker(['image', 'inspect', '--format', '{{json .RepoDigests}}', image]);
  const digests = inspected.code === 0 ? z.array(z.string()).parse(JSON.parse(inspected.output)) : [];
  const digest = digests[0]?.split('@')[1];
  return digest === undefined ? image : `${image}@${digest}`;
}

/** The commit and its time; the same commit gives the same files. */
async function readSourceState(): Promise<{ revision: string; time: string }> {
  const changes = await git('status', '--porcelain');
  const revision = await git('rev-parse', 'HEAD');
  return {
    revision: changes === '' ? revision : `${revision}-modified`,
    time: await git('log', '-1', '--format=%ct'),
  };
}
