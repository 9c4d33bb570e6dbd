import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from './terminal.js';
import type { Operate } from './trigger.js';

/**
 * Returns a function that runs operator commands of the suite that was started in a clone of the project:
 * `npm run -s ops -- …`, without npm.
 */
export function operatorIn(clone: string): Operate {
  return async (...command) => {
    try {
      const program = join(clone, 'tools', 'bin.mjs');
      await promisify(execFile)(process.execPath, [program, 'ops', ...command, '--json'], { cwd: clone });
    } catch (error) {
      const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
      throw new Failure(`npm run -s ops -- ${command.join(' ')}: ${output || String(error)}`);
    }
  };
}
