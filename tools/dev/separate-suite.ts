import type { RequiredPrograms } from './dependencies/choose.ts';
import { resetSuite } from './stop-suite.ts';
import type { PrintLine } from './output/progress.ts';
import type { Settings } from './settings.ts';
import { stopOnSignal } from './stop-on-signal.ts';
import { Suite } from './suite.ts';

/** Runs the work with new, empty stores, and stops the suite afterwards or on a signal. */
export async function inSeparateSuite<T>(
  settings: Settings,
  required: RequiredPrograms,
  say: PrintLine,
  work: (suite: Suite) => Promise<T>,
): Promise<T> {
  await resetSuite(settings);
  const suite = await Suite.open(settings, { say, log: () => undefined });
  stopOnSignal(() => suite.stop());
  try {
    await suite.startDependencies(required);
    return await work(suite);
  } finally {
    await suite.stop();
  }
}
