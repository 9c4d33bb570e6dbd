import { mustRun } from '../dev/run-program.ts';
import type { Engine } from './engine.ts';

/** Returns the size in bytes of a folder of an image, compressed by gzip as a registry stores it. */
export async function compressedBytes(engine: Engine, image: string, folder: string): Promise<number> {
  const container = (await engine.mustDocker(['create', image])).trim();
  try {
    const { program, environment } = engine;
    const script = 'set -o pipefail; "$0" cp "$1" - | gzip | wc -c';
    const output = await mustRun('bash', ['-c', script, program, `${container}:${folder}`], {
      env: environment,
    });
    return Number(output);
  } finally {
    await engine.mustDocker(['rm', container]);
  }
}
