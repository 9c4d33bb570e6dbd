import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { control } from './supervisor/control.ts';
import { Supervisor } from './supervisor/supervisor.ts';

/** Stops a suite, and processes that a killed suite left. Returns false if there was none. */
export async function endSuite(stateDir: string): Promise<boolean> {
  const ended = await control(stateDir, 'end');
  // It responds after its processes have ended; then it exits.
  while (ended !== undefined && (await control(stateDir, 'ping').catch(() => undefined)) !== undefined)
    await sleep(50);
  const leftovers = existsSync(stateDir) ? await new Supervisor(stateDir).endLeftovers() : [];
  return ended !== undefined || leftovers.length > 0;
}
