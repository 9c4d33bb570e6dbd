import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { control } from './supervisor/control.ts';
import { Supervisor } from './supervisor/supervisor.ts';

/** Ends the suite of a state directory, also what a killed one has left behind. False when there was none. */
export async function endSuite(stateDir: string): Promise<boolean> {
  const ended = await control(stateDir, 'end');
  // It answers when all it started is gone; then its own process goes.
  while (ended !== undefined && (await control(stateDir, 'ping').catch(() => undefined)) !== undefined)
    await sleep(50);
  const leftovers = existsSync(stateDir) ? await new Supervisor(stateDir).endLeftovers() : [];
  return ended !== undefined || leftovers.length > 0;
}
