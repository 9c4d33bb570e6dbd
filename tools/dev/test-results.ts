import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { namesIn } from './run-program.ts';
import { root } from './settings.ts';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

/** What Jest writes with --json; a file that could not even be loaded counts as one failure. */
const resultsSchema = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numRuntimeErrorTestSuites: z.number(),
});

/** Each project's results, which Nx keeps in its cache and puts back when nothing has changed. */
export const resultsFile = 'test-results.json';
export const jestArgs = ['--', '--json', `--outputFile=${resultsFile}`, '--passWithNoTests'] as const;

export function removeResults(): void {
  for (const file of resultFiles()) rmSync(file);
}

/** The sum over all projects. A run that ended badly without one failed test still counts as a failure. */
export function countResults(endedWell: boolean): Counts {
  const results = resultFiles().map((file) => resultsSchema.parse(JSON.parse(readFileSync(file, 'utf8'))));
  return withOutcome(
    sum(
      results.map((result) => ({
        passed: result.numPassedTests,
        failed: result.numFailedTests + result.numRuntimeErrorTestSuites,
      })),
    ),
    endedWell,
  );
}

export function withOutcome(counts: Counts, endedWell: boolean): Counts {
  return endedWell || counts.failed > 0 ? counts : { ...counts, failed: 1 };
}

export function sum(all: readonly Counts[]): Counts {
  return all.reduce(
    (total, { passed, failed }) => ({ passed: total.passed + passed, failed: total.failed + failed }),
    {
      passed: 0,
      failed: 0,
    },
  );
}

function resultFiles(): string[] {
  const projects = ['apps', 'libs'].flatMap((group) =>
    namesIn(join(root, group)).map((name) => join(root, group, name)),
  );
  return [...projects, join(root, 'tools')]
    .map((project) => join(project, resultsFile))
    .filter((file) => existsSync(file));
}
