import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dropDatabases } from './databases.ts';
import { dockerAnswers, removeContainers } from './dependencies/docker.ts';
import { postgresHomes } from './dependencies/postgres.ts';
import { namesIn } from './run-program.ts';
import type { Settings } from './settings.ts';

/** The suite of `npm test` lives below the developer's one and outlives its reset. */
const kept = new Set(['test']);

/** Removes all that a suite has made. It must not be running. */
export async function wipeState(settings: Settings): Promise<void> {
  if (settings.given.postgres !== undefined) await dropDatabases(settings.given.postgres, settings);
  if (existsSync(settings.stateDir) && (await dockerAnswers())) await removeContainers(settings);
  for (const name of namesIn(settings.stateDir).filter((entry) => !kept.has(entry))) {
    rmSync(join(settings.stateDir, name), { recursive: true, force: true });
  }
  const [, outside] = postgresHomes(settings);
  rmSync(dirname(outside), { recursive: true, force: true });
}
