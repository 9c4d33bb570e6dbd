import { createReadStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Writable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { z } from 'zod';
import { mustRun } from '../dev/run-program.ts';
import type { Engine } from './engine.ts';

const savedSchema = z.array(z.object({ Layers: z.array(z.string()) }));

/** Returns the size of the layers above the base, compressed by gzip as a registry stores them. */
export async function compressedSize(engine: Engine, image: string, baseLayerCount: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'layers-'));
  try {
    const archive = join(directory, 'image.tar');
    await engine.mustDocker(['save', '--output', archive, image]);
    await mustRun('tar', ['-C', directory, '-xf', archive]);
    const [saved] = savedSchema.parse(JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8')));
    let bytes = 0;
    for (const layer of saved?.Layers.slice(baseLayerCount) ?? [])
      bytes += await gzippedSize(join(directory, layer));
    return bytes;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function gzippedSize(file: string): Promise<number> {
  let bytes = 0;
  const count = new Writable({
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done();
    },
  });
  await pipeline(createReadStream(file), createGzip(), count);
  return bytes;
}
