import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { postgresPrograms } from '../dev/dependencies/postgres.ts';
import { Failure } from '../dev/failure.ts';
import { say } from '../dev/output/progress.ts';
import { findProgram, runOrThrow, type ProcessResult } from '../dev/run-program.ts';
import { root } from '../dev/settings.ts';
import { baseImage, type BaseName, baseNames } from './base-images.ts';
import { archiveDebianPackages } from './debian-files.ts';
import type { Engine } from './engine.ts';

const pullTimeoutMs = 120_000;
const label = 'org.fulfilment.substitute';
const debianImage = 'fulfilment-substitute/debian';
const sourceFolder = join(root, 'tools', 'images', 'substitutes');
const certificates = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Makes the base images available: pulls them, or else makes substitutes under the same names, from the
 * Debian packages of this machine. A real image is never replaced.
 */
export async function provideBaseImages(engine: Engine): Promise<void> {
  const missing = await pullBaseImages(engine);
  if (missing.length === 0) return;
  say(`These images cannot be pulled here: ${missing.map(baseImage).join(', ')}.`);
  say(
    'Substitutes from the programs of this machine replace them. They test our files, not the official images.',
  );
  const context = mkdtempSync(join(tmpdir(), 'substitutes-'));
  try {
    const archive = join(context, 'debian.tar');
    await archiveDebianPackages(archive);
    await engine.dockerOrThrow(['import', archive, debianImage]);
    rmSync(archive);
    await fillContext(context);
    for (const name of missing) {
      const options = [
        '--label',
        `${label}=${sourceHash()}`,
        '--build-arg',
        `POSTGRES_PROGRAMS=${postgresPrograms() ?? ''}`,
      ];
      await engine.dockerOrThrow(['build', ...options, '--target', name, '--tag', baseImage(name), context]);
    }
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

/** Pulls the base images that the engine does not have. Returns those that cannot be pulled. */
export async function pullBaseImages(engine: Engine): Promise<BaseName[]> {
  const missing: BaseName[] = [];
  const pullMissing = async (name: BaseName): Promise<void> => {
    const state = await stateOf(engine, baseImage(name));
    if (state === 'real' || state === sourceHash()) return;
    const pull = (): Promise<ProcessResult> =>
      engine.docker(['pull', '--quiet', baseImage(name)], { timeoutMs: pullTimeoutMs });
    if (state === 'absent' && (await pull()).code === 0) say(`Pulled ${baseImage(name)}.`);
    else missing.push(name);
  };
  await Promise.all(baseNames.map(pullMissing)); // so that a slow registry is waited for once
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

/** Identifies the version of the substitutes: those of another version are built again. */
function sourceHash(): string {
  const hash = createHash('sha256');
  for (const file of ['Dockerfile', 'postgres.sh']) hash.update(readFileSync(join(sourceFolder, file)));
  return hash.digest('hex').slice(0, 16);
}

/** The substitute for Node.js has the Node.js of node_modules, and the npm and registry of this machine. */
async function fillContext(context: string): Promise<void> {
  cpSync(sourceFolder, context, { recursive: true });
  copyFileSync(certificates, join(context, 'certificates'));
  copyFileSync(process.execPath, join(context, 'node'));
  chmodSync(join(context, 'node'), 0o755);
  const npm = findProgram('npm');
  if (npm === undefined) throw new Failure('npm is not in PATH.');
  cpSync(dirname(dirname(realpathSync(npm))), join(context, 'npm'), { recursive: true });
  const output = await runOrThrow('npm', ['config', 'get', 'registry'], { cwd: tmpdir() });
  const registry = output.split('\n').find((line) => line.startsWith('http')) ?? '';
  writeFileSync(join(context, 'npmrc'), `registry=${registry}\ncafile=${certificates}\n`);
}
