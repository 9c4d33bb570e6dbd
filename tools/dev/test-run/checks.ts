import { join } from 'node:path';
import { buildAll, runNx } from '../build.ts';
import { Failure } from '../failure.ts';
import type { Progress } from '../output/progress.ts';
import { type Outcome, runProgram } from '../run-program.ts';
import { root, toolArguments } from '../settings.ts';

const prettier = join(root, 'node_modules', 'prettier', 'bin', 'prettier.cjs');

/** The checks of `npm run check` by their name in the output. */
const checks: Readonly<Record<string, () => Promise<Outcome>>> = {
  'Format (fix with: npm run format)': () => node([prettier, '--check', '--log-level=warn', '.']),
  'Words (docs/glossary.md)': () => node(toolArguments('words/check-words.ts')),
  'Contracts of the last release': () => node(toolArguments('compatibility/check-contracts.ts')),
  'Kubernetes manifests': () => node(toolArguments('kubernetes/check-manifests.ts')),
  'Lint and boundaries': () => runNx(['run-many', '--target=lint', '--outputStyle=static', '--parallel=2']),
  Types: () => runNx(['run-many', '--target=typecheck', '--outputStyle=static', '--parallel=2']),
  'Generated files are fresh': async () => {
    await buildAll(); // the generator reads the compiled code
    return node(toolArguments('reference/generate.ts', '--check'));
  },
};

/** Runs every check, even after a failure. Returns the names of the failed checks. */
export async function runChecks(progress: Progress, say: (line: string) => void): Promise<string[]> {
  const failed: string[] = [];
  for (const [name, check] of Object.entries(checks)) {
    await progress
      .step(name, async () => {
        const { code, output } = await check();
        if (code !== 0) throw new Failure(output.trim());
      })
      .catch((error: unknown) => {
        failed.push(name);
        say(error instanceof Error ? error.message : String(error));
      });
  }
  return failed;
}

function node(args: readonly string[]): Promise<Outcome> {
  return runProgram(process.execPath, args, { cwd: root });
}
