import { join } from 'node:path';
import { buildAll } from '../build.ts';
import { Failure } from '../failure.ts';
import { Progress, say } from '../output/progress.ts';
import { type ProcessResult, runProgram } from '../run-program.ts';
import { root, toolArguments } from '../settings.ts';

/** Folders with a tsconfig.json; the one of the repository includes every project without its own. */
const typeScriptProjects = ['.', 'libs/client', 'apps/bootstrap', 'tools'];

/**
 * The checks of `npm run check` by their name in the output. Each runs once for the whole repository, because
 * a run for each project would read the same declarations again (ADR 73).
 */
const checks: Readonly<Record<string, () => Promise<ProcessResult>>> = {
  'Format (fix with: npm run format)': () =>
    runPackageProgram('prettier/bin/prettier.cjs', '--check', '--log-level=warn', '.'),
  'Words (docs/glossary.md)': () => runNode(toolArguments('words/check-words.ts')),
  'Contracts of the last release': () => runNode(toolArguments('compatibility/check-contracts.ts')),
  'Kubernetes manifests': () => runNode(toolArguments('kubernetes/check-manifests.ts')),
  'Rules that need types': () => runPackageProgram('oxlint/bin/oxlint', '--type-aware'),
  'Other rules and boundaries': () => runPackageProgram('eslint/bin/eslint.js', '.'),
  Types: () => runPackageProgram('@typescript/native/bin/tsc', '-b', '--noEmit', ...typeScriptProjects),
  'Generated files are fresh': async () => {
    await buildAll(); // the generator reads the compiled code
    return runNode(toolArguments('reference/generate.ts', '--check'));
  },
};

/** Runs every check, two at a time, even after a failure. Returns the names of the failed checks. */
export async function runChecks(): Promise<string[]> {
  const progress = new Progress();
  const failed: string[] = [];
  const waiting = Object.entries(checks);
  const runWaiting = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [name, check] = next;
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
  };
  await Promise.all([runWaiting(), runWaiting()]);
  return failed;
}

/** Runs the program of an installed package. */
function runPackageProgram(path: string, ...args: readonly string[]): Promise<ProcessResult> {
  return runNode([join(root, 'node_modules', path), ...args]);
}

function runNode(args: readonly string[]): Promise<ProcessResult> {
  return runProgram(process.execPath, args, { cwd: root });
}
