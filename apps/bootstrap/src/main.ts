import { createDatabases } from './databases.ts';
import { writeSecrets } from './secrets.ts';
import { InvalidInput, readDatabases, requireSetting, requireUrl } from './settings.ts';

const help = `Prepares the stores of a suite. Every command may be repeated.

  node src/main.ts secrets DIRECTORY    generates the missing secrets of a suite on one host (deploy/compose.yaml)
  node src/main.ts databases            creates the role and database of each given service in PostgreSQL

Settings of secrets: BASE_URL, and as host:port POSTGRES_ADDRESS, REDIS_ADDRESS and RABBITMQ_ADDRESS.
Settings of databases: POSTGRES_ADMIN_URL of a role that may create roles and databases, and STORE_API_DATABASE_URL,
CREATOR_API_DATABASE_URL, AUTH_SERVER_DATABASE_URL, WEBHOOK_WORKER_DATABASE_URL: the DATABASE_URL of each service
to prepare. Instead of a setting NAME, NAME_FILE may name a file with its value.`;

const exitCodeConfig = 78; // EX_CONFIG of sysexits.h, with which the services exit too

async function main([command, directory, ...rest]: readonly string[]): Promise<void> {
  if (command === 'secrets' && directory !== undefined && rest.length === 0) return prepareSecrets(directory);
  if (command === 'databases' && directory === undefined) return prepareDatabases();
  throw new InvalidInput(help);
}

function prepareSecrets(directory: string): void {
  const stores = {
    postgres: requireSetting(process.env, 'POSTGRES_ADDRESS'),
    redis: requireSetting(process.env, 'REDIS_ADDRESS'),
    rabbitmq: requireSetting(process.env, 'RABBITMQ_ADDRESS'),
  };
  const host = new URL(requireUrl(process.env, 'BASE_URL')).hostname;
  const { generated, kept } = writeSecrets(directory, stores, host);
  log('The secrets are complete. Existing ones were not changed.', { generated, kept: kept.length });
}

async function prepareDatabases(): Promise<void> {
  const databases = readDatabases(process.env);
  if (databases.length === 0) throw new InvalidInput(`No database is given.\n\n${help}`);
  await createDatabases(requireUrl(process.env, 'POSTGRES_ADMIN_URL'), databases);
  log('The databases are ready.', { databases: databases.map(({ database }) => database) });
}

function log(message: string, fields: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify({ level: 'info', service: 'bootstrap', message, ...fields })}\n`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof InvalidInput ? exitCodeConfig : 1;
});
