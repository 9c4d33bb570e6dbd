import { globSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import { root } from '../settings.ts';

export interface Results {
  readonly passed: number;
  /** One text for each failed test, check or run: its name, then why it failed. */
  readonly failures: readonly string[];
}

/** Results of another command that `npm test` runs, and its output. */
export interface CommandResults {
  readonly results: Results;
  readonly lines: readonly string[];
}

export const noResults: Results = { passed: 0, failures: [] };

/** Output of Jest with --json. A file that cannot be loaded has no test, but a message. */
const resultsSchema = z.object({
  numPassedTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string(),
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()).nullable(),
        }),
      ),
    }),
  ),
});

/** Results of each project, which Nx restores from its cache if nothing has changed. */
const resultsFile = 'test-results.json';
export const jestArgs = ['--json', `--outputFile=${resultsFile}`, '--passWithNoTests'] as const;

/** Arguments for a spec that has a separate run, with a separate file of results. */
export function jestArgsForSpec(spec: string): readonly string[] {
  return ['--json', `--outputFile=test-results-${spec}.json`];
}

const linesOfReason = 12;

export function removeResults(): void {
  for (const file of resultFiles()) rmSync(file);
}

/** Sums the results of all projects. A failed run without a failed test also counts as a failure. */
export function readResults({ hasPassed }: { readonly hasPassed: boolean }): Results {
  const results = addResults(resultFiles().map((file) => resultsOf(readFileSync(file, 'utf8'))));
  if (hasPassed || results.failures.length > 0) return results;
  return { ...results, failures: ['The test run failed without a failed test. See the output above.'] };
}

/** @param json output of Jest with --json */
export function resultsOf(json: string): Results {
  const { numPassedTests, testResults } = resultsSchema.parse(JSON.parse(json));
  const failures = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name);
    const failedTests = assertionResults.filter((test) => test.status === 'failed');
    if (status === 'failed' && failedTests.length === 0) return [describeFailure(file, message)];
    return failedTests.map(({ fullName, failureMessages }) =>
      describeFailure(`${file}: ${fullName}`, (failureMessages ?? []).join('\n')),
    );
  });
  return { passed: numPassedTests, failures };
}

export function addResults(all: readonly Results[]): Results {
  return {
    passed: all.reduce((total, { passed }) => total + passed, 0),
    failures: all.flatMap(({ failures }) => failures),
  };
}

function describeFailure(name: string, reason: string): string {
  const lines = stripVTControlCharacters(reason).trim().split('\n').slice(0, linesOfReason);
  return [name, ...lines.map((line) => `    ${line}`)].join('\n');
}

function resultFiles(): string[] {
  return globSync('{apps/*,libs/*,tools}/test-results*.json', { cwd: root }).map((file) => join(root, file));
}
