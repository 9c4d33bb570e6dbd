import { existsSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { dropDatabases } from './services/databases.ts';
import { dockerResponds, removeContainers } from './dependencies/docker.ts';
import { postgresHomes } from './dependencies/postgres.ts';
import type { Settings } from './settings.ts';
import { emptyStateDir } from './state/state-dir.ts';
import { control } from './supervisor/control.ts';
import { killLeftovers } from './supervisor/supervisor.ts';

const pollIntervalMs = 50;

/** Stops a suite, and processes that a killed suite left. Returns false if there was none. */
export async function stopSuite(stateDir: string): Promise<boolean> {
  const stopped = await control(stateDir, 'end');
  // A suite responds to `end` when its processes have ended, and exits after the response.
  while (stopped !== undefined && (await control(stateDir, 'ping').catch(() => undefined)) !== undefined)
    await sleep(pollIntervalMs);
  const leftovers = await killLeftovers(stateDir);
  return stopped !== undefined || leftovers.length > 0;
}

/** Stops a suite and deletes what it created, except in an external Redis or RabbitMQ. */
export async function resetSuite(settings: Settings): Promise<void> {
  await stopSuite(settings.stateDir);
  if (settings.externalUrls.postgres !== undefined)
    await dropDatabases(settings.externalUrls.postgres, settings);
  if (existsSync(settings.stateDir) && (await dockerResponds())) await removeContainers(settings);
  emptyStateDir(settings.stateDir);
  rmSync(postgresHomes(settings).outsideParent, { recursive: true, force: true });
}
