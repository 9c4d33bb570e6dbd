import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { root } from '../dev/settings.ts';

const manifest = z.object({ version: z.string() });

/** Returns the version in the package.json of a folder of the repository. */
export function readVersion(folder: string): string {
  return manifest.parse(JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))).version;
}
