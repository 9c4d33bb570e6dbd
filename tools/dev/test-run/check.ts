import { runChecks } from './checks.ts';
import { runMain } from '../failure.ts';
import { exitCodeInterrupted } from '../run-program.ts';

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => process.exit(exitCodeInterrupted));

runMain(async () => {
  const failed = await runChecks();
  if (failed.length > 0) console.error(`\nFailed: ${failed.join(', ')}`);
  return failed.length > 0 ? 1 : 0;
});
