import { exitCodeInterrupted } from './run-program.ts';
import type { RequiredPrograms } from './dependencies/choose.ts';
import { resetSuite } from './end-suite.ts';
import type { Say } from './output/progress.ts';
import type { Settings } from './settings.ts';
import { Suite } from './suite.ts';

/** Runs the work with new, empty stores, and stops the suite afterwards or on a signal. */
export async function inSeparateSuite<T>(
  settings: Settings,
  required: RequiredPrograms,
  say: Say,
  work: (suite: Suite) => Promise<T>,
): Promise<T> {
  await resetSuite(settings);
  const suite = await Suite.open(settings, { say, log: () => undefined });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => void suite.stop().finally(() => process.exit(exitCodeInterrupted)));
  try {
    await suite.startDependencies(required);
    return await work(suite);
  } finally {
    await suite.stop();
  }
}
