import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runNx } from '../build.ts';
import { runChecks } from './checks.ts';
import { Failure, reasonOf, runMain } from '../failure.ts';
import { collectorOffset } from '../ports.ts';
import { say } from '../output/progress.ts';
import { inSeparateSuite } from '../separate-suite.ts';
import { runProgram } from '../run-program.ts';
import { readSeparateSettings, root, type Settings } from '../settings.ts';
import { runShortChaos } from './short-chaos.ts';
import { stackFile } from '../state/stack-file.ts';
import type { Suite } from '../suite.ts';
import {
  addResults,
  jestArgs,
  jestArgsForSpec,
  readResults,
  removeResults,
  type Results,
} from './test-results.ts';
import { prepareImages } from './prepare-images.ts';

const help = `npm test: runs checks, then unit and integration tests, then end-to-end tests concurrently with the short form
of npm run chaos. It starts suites of its own and stops them at the end. It prints each failure once more at the
end; the last line is "N passed, N failed".

  npm test                   all tests
  npm test -- --only unit    unit and integration tests, with private stores
  npm test -- --only e2e     end-to-end tests, with a complete suite
  npm test -- --images       all tests, then npm run images -- --verify where that is possible (CI)

Settings (environment):
  SUITE_TEST_BASE_PORT   port of the test suite's gateway (default: 18443); the other ports follow it
  SUITE_DEV_DIR          directory for state; the test suite uses its subdirectory "test" (default: .dev)`;

/** The file name of an end-to-end spec that has its own run, concurrently with the other specs. */
const siteSpec = 'documentation-site';
/** The file name of the end-to-end spec that runs after all others. */
const faultsSpec = 'faults';
/** The other end-to-end specs create their own creators and clients, so two of them can run at a time. */
const e2eWorkers = 2;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      images: { type: 'boolean', default: false },
    },
  });
  const { only } = values;
  if (only !== undefined && only !== 'unit' && only !== 'e2e') throw new Failure(help);
  if (only !== undefined && values.images) throw new Failure('--images cannot be combined with --only.');

  const results: Results[] = [];
  if (only === undefined) {
    say('Checks');
    const failed = await runChecks();
    results.push({ passed: 0, failures: failed.map((check) => `Check: ${check}`) });
  }
  results.push(...(await testWithSuite(only, values.images)));
  const { passed, failures } = addResults(results);
  if (failures.length > 0) say(`\nFailures\n${failures.join('\n')}\n`);
  say(`${passed} passed, ${failures.length} failed`);
  return failures.length > 0 || passed === 0 ? 1 : 0;
}

async function testWithSuite(only: 'unit' | 'e2e' | undefined, withImages: boolean): Promise<Results[]> {
  removeResults();
  say('\nStores and suite for the tests');
  const required = { gateway: only !== 'unit', tests: true, unitTests: only !== 'e2e' };
  try {
    return await inSeparateSuite(testSettings(), required, say, (suite) => runTests(suite, only, withImages));
  } catch (error) {
    const reason = reasonOf(error);
    say(`\n${reason}`);
    // The error is counted below, so it must not count as a run without a result, too.
    return [readResults({ hasPassed: true }), { passed: 0, failures: [reason] }];
  }
}

function testSettings(): Settings {
  const settings = readSeparateSettings('test');
  const tracing = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${settings.basePort + collectorOffset}`,
    OTEL_BSP_SCHEDULE_DELAY: '200',
  };
  return { ...settings, environment: { ...settings.environment, ...tracing } };
}

async function runTests(
  suite: Suite,
  only: 'unit' | 'e2e' | undefined,
  withImages: boolean,
): Promise<Results[]> {
  const { stateDir, basePort } = suite.settings;
  const { postgres, redis, rabbitmq } = suite.dependencyUrls();
  const stores = { TEST_POSTGRES_URL: postgres, TEST_REDIS_URL: redis, TEST_RABBITMQ_URL: rabbitmq };
  const unitPassed =
    only === 'e2e' ||
    (await runNxTests('Unit and integration tests', ['run-many', '--target=test', '--parallel=3'], stores));
  if (only === 'unit') return [readResults({ hasPassed: unitPassed })];
  say('\nSuite for the end-to-end tests');
  const stack = await suite.startAll();
  const env = {
    ...stores,
    SUITE_STACK_FILE: stackFile(stateDir),
    SUITE_DEV_DIR: stateDir, // so that the stack and ops commands reach this suite
    SUITE_BASE_PORT: String(basePort),
    NODE_EXTRA_CA_CERTS: stack.ca_file,
    SUITE_COLLECTOR_PORT: String(basePort + collectorOffset),
  };
  // Runs concurrently with chaos, the build of images and the spec of the site, because it mostly waits.
  // The option for paths replaces the patterns of jest.preset.mjs, so it repeats them.
  const ignored = ['/node_modules/', '/dist/', `/${siteSpec}.spec`, `/${faultsSpec}.spec`];
  const e2e = runNxTests('End-to-end tests', ['run', '@fulfilment/suite-e2e:e2e'], env, [
    ...ignored.map((path) => `--testPathIgnorePatterns=${path}`),
    `--maxWorkers=${e2eWorkers}`,
  ]);
  const images = withImages ? prepareImages() : undefined;
  const chaos = only === undefined ? await runShortChaos() : undefined;
  const site = await runSpec('Documentation site', siteSpec, env);
  const e2ePassed = await e2e;
  // Runs last: its faults would break the requests of other specs, and its time limits need an idle machine.
  const faults = await runSpec('Faults', faultsSpec, env);
  const others = [chaos, await images?.verify()].filter((result) => result !== undefined);
  for (const { lines } of [site, faults, ...others]) for (const line of lines) say(line);
  const results = readResults({ hasPassed: unitPassed && e2ePassed && site.passed && faults.passed });
  return [results, ...others.map((other) => other.results)];
}

/** Runs one end-to-end spec. Returns its output, which is printed after that of the other specs. */
async function runSpec(
  title: string,
  spec: string,
  env: Readonly<Record<string, string>>,
): Promise<{ passed: boolean; lines: string[] }> {
  const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
  const { code, output } = await runProgram(
    process.execPath,
    [jest, `/${spec}.spec`, ...jestArgsForSpec(spec)],
    { cwd: join(root, 'apps', 'suite-e2e'), env: { ...process.env, ...env } },
  );
  return { passed: code === 0, lines: [`\n${title}`, ...output.trimEnd().split('\n')] };
}

async function runNxTests(
  title: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  extraJestArgs: readonly string[] = [],
): Promise<boolean> {
  say(`\n${title}`);
  const nxArgs = [...args, '--outputStyle=static', '--', ...jestArgs, ...extraJestArgs];
  const { code } = await runNx(nxArgs, { env, onLine: say });
  return code === 0;
}

runMain(main, help);
