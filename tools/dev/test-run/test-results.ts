import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { namesIn } from '../run-program.ts';
import { root } from '../settings.ts';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

/** Output of Jest with --json. A file that cannot be loaded counts as one failure. */
const resultsSchema = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numRuntimeErrorTestSuites: z.number(),
});

/** Results of each project, which Nx restores from its cache if nothing has changed. */
const resultsFile = 'test-results.json';
/** Results of the specs that run concurrently with the others of their project. */
const concurrentResultsFile = 'test-results-concurrent.json';
export const jestArgs = ['--json', `--outputFile=${resultsFile}`, '--passWithNoTests'] as const;
export const concurrentJestArgs = ['--json', `--outputFile=${concurrentResultsFile}`] as const;

export function removeResults(): void {
  for (const file of resultFiles()) rmSync(file);
}

/** Sums the results of all projects. A failed run without a failed test also counts as a failure. */
export function countResults(succeeded: boolean): Counts {
  const results = resultFiles().map((file) => resultsSchema.parse(JSON.parse(readFileSync(file, 'utf8'))));
  const counts = addCounts(
    results.map((result) => ({
      passed: result.numPassedTests,
      failed: result.numFailedTests + result.numRuntimeErrorTestSuites,
    })),
  );
  return succeeded || counts.failed > 0 ? counts : { ...counts, failed: 1 };
}

export function addCounts(all: readonly Counts[]): Counts {
  return all.reduce(
    (total, { passed, failed }) => ({ passed: total.passed + passed, failed: total.failed + failed }),
    { passed: 0, failed: 0 },
  );
}

function resultFiles(): string[] {
  const projects = ['apps', 'libs'].flatMap((group) =>
    namesIn(join(root, group)).map((name) => join(root, group, name)),
  );
  return [...projects, join(root, 'tools')]
    .flatMap((project) => [join(project, resultsFile), join(project, concurrentResultsFile)])
    .filter((file) => existsSync(file));
}
