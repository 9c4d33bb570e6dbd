import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from './terminal.js';
import type { Operate } from './trigger.js';

/**
 * Returns a function that runs operator commands of the suite that was started in a clone of the project:
 * `npm run -s ops -- …`, without npm.
 * @throws Failure at once if the folder is no clone
 */
export function operatorIn(folder: string): Operate {
  const clone = resolve(folder); // also the working directory of the program
  const program = join(clone, 'tools', 'bin.mjs');
  if (!existsSync(program)) throw new Failure(`--clone: ${clone} is not a clone of the project.`);
  return async (...command) => {
    try {
      await promisify(execFile)(process.execPath, [program, 'ops', ...command, '--json'], { cwd: clone });
    } catch (error) {
      const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
      throw new Failure(`npm run -s ops -- ${command.join(' ')}: ${output || String(error)}`);
    }
  };
}
