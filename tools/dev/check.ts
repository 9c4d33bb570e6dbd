import { runChecks } from './checks.ts';
import { reasonOf } from './failure.ts';
import { Progress } from './progress.ts';
import { stopRunningPrograms } from './run-program.ts';

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    stopRunningPrograms();
    process.exit(130);
  });
}

const say = (line: string): void => console.log(line);
runChecks(new Progress(say), say).then(
  (failed) => {
    if (failed.length > 0) console.error(`\nFailed: ${failed.join(', ')}`);
    process.exitCode = failed.length > 0 ? 1 : 0;
  },
  (error: unknown) => {
    console.error(reasonOf(error));
    process.exitCode = 1;
  },
);
