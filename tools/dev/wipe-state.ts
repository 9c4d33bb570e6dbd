import { existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { dropDatabases } from './databases.ts';
import { dockerAnswers, removeContainers } from './dependencies/docker.ts';
import { postgresHomes } from './dependencies/postgres.ts';
import type { Settings } from './settings.ts';
import { emptyStateDir } from './state-dir.ts';

/** Removes all that a suite has made, and nothing else. It must not be running. */
export async function wipeState(settings: Settings): Promise<void> {
  if (settings.given.postgres !== undefined) await dropDatabases(settings.given.postgres, settings);
  if (existsSync(settings.stateDir) && (await dockerAnswers())) await removeContainers(settings);
  emptyStateDir(settings.stateDir);
  const [, outside] = postgresHomes(settings);
  rmSync(dirname(outside), { recursive: true, force: true });
}
