import { existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { dropDatabases } from './databases.ts';
import { dockerResponds, removeContainers } from './dependencies/docker.ts';
import { postgresHomes } from './dependencies/postgres.ts';
import type { Settings } from './settings.ts';
import { emptyStateDir } from './state-dir.ts';

/** Deletes what a suite created, except in an external Redis or RabbitMQ. The suite must not be running. */
export async function wipeState(settings: Settings): Promise<void> {
  if (settings.externalUrls.postgres !== undefined)
    await dropDatabases(settings.externalUrls.postgres, settings);
  if (existsSync(settings.stateDir) && (await dockerResponds())) await removeContainers(settings);
  emptyStateDir(settings.stateDir);
  const [, outside] = postgresHomes(settings);
  rmSync(dirname(outside), { recursive: true, force: true });
}
