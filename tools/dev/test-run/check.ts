import { runChecks } from './checks.ts';
import { runMain } from '../failure.ts';
import { Progress } from '../output/progress.ts';

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

const say = (line: string): void => console.log(line);
runMain(async () => {
  const failed = await runChecks(new Progress(say), say);
  if (failed.length > 0) console.error(`\nFailed: ${failed.join(', ')}`);
  return failed.length > 0 ? 1 : 0;
});
