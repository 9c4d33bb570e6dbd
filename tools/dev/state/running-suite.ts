import { notRunning, readSettings } from '../settings.ts';
import { control, notReady } from '../supervisor/control.ts';
import { readStack, type Stack } from './stack-file.ts';

/** Returns the suite of this state directory. @throws Failure when none is ready */
export async function readRunningSuite(): Promise<Stack> {
  const { stateDir } = readSettings();
  const stack = readStack(stateDir);
  if (stack !== undefined) return stack;
  throw (await control(stateDir, 'ping')) === undefined ? notRunning(stateDir) : notReady;
}
