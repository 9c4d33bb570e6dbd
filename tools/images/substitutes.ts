import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Failure } from '../dev/failure.ts';
import { findProgram, mustRun, type Outcome } from '../dev/run-program.ts';
import { root } from '../dev/settings.ts';
import { baseImage, type BaseName, baseNames } from './base-images.ts';
import type { Engine } from './engine.ts';

const pullTimeoutMs = 120_000;
const label = 'org.fulfilment.substitute';
const debian = 'fulfilment-substitute/debian';
/** The release that has nginx with `http2 on`, PostgreSQL 17 and RabbitMQ 4. */
const release = 'trixie';
const folder = join(root, 'tools', 'images', 'substitutes');
const certificates = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Makes the base images available: pulls them, or else builds substitutes from Debian's packages under the
 * same names. A real image is never replaced.
 */
export async function provideBaseImages(engine: Engine, say: (line: string) => void): Promise<void> {
  const missing = await pullBaseImages(engine, say);
  if (missing.length === 0) return;
  say(`These images cannot be pulled here: ${missing.map(baseImage).join(', ')}.`);
  say(`Building substitutes for them from Debian ${release}. They test our files, not the official images.`);
  const context = mkdtempSync(join(tmpdir(), 'substitutes-'));
  try {
    await makeDebian(engine, context);
    await fillContext(context);
    for (const name of missing) {
      const labels = ['--label', `${label}=${sourceHash()}`];
      // A package mirror on this machine is reachable only in the host's network.
      const options = ['--network', 'host', ...labels, '--target', name, '--tag', baseImage(name)];
      await engine.mustDocker(['build', ...options, context]);
    }
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

/** Pulls the base images that the engine does not have. Returns those that cannot be pulled. */
export async function pullBaseImages(engine: Engine, say: (line: string) => void): Promise<BaseName[]> {
  const missing: BaseName[] = [];
  for (const name of baseNames) {
    const state = await stateOf(engine, baseImage(name));
    if (state === 'real' || state === sourceHash()) continue;
    const pull = (): Promise<Outcome> =>
      engine.docker(['pull', '--quiet', baseImage(name)], { timeoutMs: pullTimeoutMs });
    if (state === 'absent' && (await pull()).code === 0) say(`Pulled ${baseImage(name)}.`);
    else missing.push(name);
  }
  return missing;
}

/** Returns `absent`, `real` for an official image, or the hash of the source of a substitute. */
async function stateOf(engine: Engine, image: string): Promise<string> {
  const format = `{{index .Config.Labels "${label}"}}`;
  const { code, output } = await engine.docker(['image', 'inspect', '--format', format, image]);
  if (code !== 0) return 'absent';
  const hash = output.trim();
  return hash === '' || hash === '<no value>' ? 'real' : hash;
}

function sourceHash(): string {
  const hash = createHash('sha256');
  for (const file of ['Dockerfile', 'postgres.sh']) hash.update(readFileSync(join(folder, file)));
  return hash.digest('hex').slice(0, 16);
}

/** Imports the smallest Debian, with the package mirror and certificates of this machine. */
async function makeDebian(engine: Engine, context: string): Promise<void> {
  if ((await stateOf(engine, debian)) === sourceHash()) return;
  const system = join(context, 'debian');
  const mirror = await packageMirror();
  await mustRun('debootstrap', ['--variant=minbase', '--include=ca-certificates', release, system, mirror]);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(system, path)), { recursive: true });
    writeFileSync(join(system, path), text);
  };
  write('etc/apt/sources.list', `deb ${mirror} ${release} main\n`);
  write('usr/sbin/policy-rc.d', '#!/bin/sh\nexit 101\n'); // packages start no servers
  chmodSync(join(system, 'usr/sbin/policy-rc.d'), 0o755);
  write(
    'etc/apt/apt.conf.d/90substitute',
    'APT::Install-Recommends "false";\nAPT::Keep-Downloaded-Packages "false";\n',
  );
  write(
    'etc/dpkg/dpkg.cfg.d/90substitute',
    ['doc', 'man', 'info', 'locale'].map((name) => `path-exclude /usr/share/${name}/*\n`).join(''),
  );
  copyFileSync(certificates, join(system, certificates));
  const archive = join(context, 'debian.tar');
  const unneeded = ['var/cache/apt', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/locale'];
  await mustRun('tar', [
    ...unneeded.map((path) => `--exclude=./${path}/*`),
    ...['--numeric-owner', '--one-file-system', '-C', system, '-cf', archive, '.'],
  ]);
  rmSync(system, { recursive: true, force: true });
  await engine.mustDocker(['import', '--change', `LABEL ${label}=${sourceHash()}`, archive, debian]);
  rmSync(archive);
}

/** The mirror from which this machine gets Debian's main archive. */
async function packageMirror(): Promise<string> {
  const format = ['--format', '$(REPO_URI)', 'Created-By: Packages'];
  const uris = (await mustRun('apt-get', ['indextargets', ...format])).split('\n');
  const mirror = uris.find((uri) => uri !== '' && !uri.includes('security'));
  if (mirror === undefined) throw new Failure('apt-get knows no package mirror. Run apt-get update.');
  return mirror.replace(/\/$/, '');
}

/** The substitute for Node.js has the Node.js of node_modules, and the npm and registry of this machine. */
async function fillContext(context: string): Promise<void> {
  cpSync(folder, context, { recursive: true });
  copyFileSync(process.execPath, join(context, 'node'));
  chmodSync(join(context, 'node'), 0o755);
  const npm = findProgram('npm');
  if (npm === undefined) throw new Failure('npm is not in PATH.');
  cpSync(dirname(dirname(realpathSync(npm))), join(context, 'npm'), { recursive: true });
  const output = await mustRun('npm', ['config', 'get', 'registry'], { cwd: tmpdir() });
  const registry = output.split('\n').find((line) => line.startsWith('http')) ?? '';
  writeFileSync(join(context, 'npmrc'), `registry=${registry}\ncafile=${certificates}\n`);
}
