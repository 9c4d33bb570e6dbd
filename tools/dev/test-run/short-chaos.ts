import { systemPackages } from '../dependencies/choose.ts';
import { secondsSince } from '../output/progress.ts';
import { runProgram } from '../run-program.ts';
import { root, toolArguments } from '../settings.ts';
import { type CommandResults, noResults } from './test-results.ts';

/** The same faults in each run, so that a new failure is caused by the change under test. */
const seed = 281;
/** More than twice the usual duration, so that a hanging run fails before CI's limit of 20 minutes. */
const timeoutMs = 300_000;

const { postgres, redis, rabbitmq, nginx } = systemPackages;

/** Runs the short form of `npm run chaos` with the compiled code, where its programs are installed. */
export async function runShortChaos(): Promise<CommandResults> {
  const missing = [postgres, redis, rabbitmq, nginx].filter(({ find }) => find() === undefined);
  if (process.platform !== 'linux' || missing.length > 0) {
    const packages = missing.map(({ debian }) => debian).join(', ');
    const reason = missing.length > 0 ? `without ${packages}` : 'on this system';
    return { results: noResults, lines: [`Faults under load: NOT RUN ${reason}.`] };
  }
  const startedAtMs = performance.now();
  const { code, output } = await runProgram(
    process.execPath,
    toolArguments('chaos/chaos.ts', '--short', '--built', '--seed', String(seed)),
    { cwd: root, timeoutMs },
  );
  const duration = secondsSince(startedAtMs);
  const title = `Faults under load, during the end-to-end tests (npm run chaos -- --short): ${duration}`;
  const results = code === 0 ? { passed: 1, failures: [] } : { passed: 0, failures: [title] };
  return { results, lines: [title, ...output.trimEnd().split('\n')] };
}
