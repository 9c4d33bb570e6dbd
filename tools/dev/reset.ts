import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { dropDatabases } from './databases.ts';
import { dockerAnswers, removeContainers } from './dependencies/docker.ts';
import { postgresHomes } from './dependencies/postgres.ts';
import { endSuite } from './end-suite.ts';
import { reasonOf } from './failure.ts';
import { namesIn } from './run-program.ts';
import { readSettings } from './settings.ts';

/** Kept: another suite's directory below this one, such as the one of `npm test`. */
const kept = new Set(['test']);

async function reset(): Promise<void> {
  const settings = readSettings();
  await endSuite(settings.stateDir);
  if (settings.given.postgres !== undefined) await dropDatabases(settings.given.postgres, settings);
  if (settings.given.redis !== undefined || settings.given.rabbitmq !== undefined) {
    console.log('What lies in the given Redis and RabbitMQ stays: they are not ours to empty.');
  }
  if (existsSync(settings.stateDir) && (await dockerAnswers())) await removeContainers(settings);
  for (const name of namesIn(settings.stateDir).filter((entry) => !kept.has(entry))) {
    rmSync(join(settings.stateDir, name), { recursive: true, force: true });
  }
  const [, outside] = postgresHomes(settings);
  rmSync(dirname(outside), { recursive: true, force: true });
  console.log('The suite is stopped and its data is wiped.');
}

reset().catch((error: unknown) => {
  console.error(reasonOf(error));
  process.exit(1);
});
