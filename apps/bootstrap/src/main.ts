import { readFileSync } from 'node:fs';
import { createDatabases, type ServiceDatabase, type ServiceName, serviceNames } from './databases.ts';
import { writeSecrets } from './secrets.ts';

const help = `Prepares the stores of a suite. Every command may be repeated.

  node src/main.ts secrets DIRECTORY    generates the secrets of a suite on one host (deploy/compose.yaml)
  node src/main.ts databases            creates the role and database of each given service in PostgreSQL

Settings of secrets: BASE_URL, POSTGRES_ADDRESS, REDIS_ADDRESS, RABBITMQ_ADDRESS (host:port).
Settings of databases, as values or as files (NAME_FILE): POSTGRES_ADMIN_URL of a role that may create roles and
databases, and STORE_API_DATABASE_URL, CREATOR_API_DATABASE_URL, AUTH_SERVER_DATABASE_URL,
WEBHOOK_WORKER_DATABASE_URL: the DATABASE_URL of each service to prepare.`;

const exitCodeConfig = 78; // EX_CONFIG, as the services

class InvalidSetting extends Error {}

async function main([command, ...args]: readonly string[]): Promise<void> {
  if (command === 'secrets' && args.length === 1) return generateSecrets(args[0] ?? '');
  if (command === 'databases' && args.length === 0) return prepareDatabases();
  throw new InvalidSetting(help);
}

function generateSecrets(directory: string): void {
  const stores = {
    postgres: required('POSTGRES_ADDRESS'),
    redis: required('REDIS_ADDRESS'),
    rabbitmq: required('RABBITMQ_ADDRESS'),
  };
  writeSecrets(directory, stores, new URL(required('BASE_URL')).hostname);
  log('The secrets are written.');
}

async function prepareDatabases(): Promise<void> {
  const databases = serviceNames.flatMap((service) => {
    const url = setting(urlSetting(service));
    return url === undefined ? [] : [databaseOf(service, url)];
  });
  if (databases.length === 0) throw new InvalidSetting(`No database is given.\n\n${help}`);
  await createDatabases(required('POSTGRES_ADMIN_URL'), databases);
  log(`The databases are ready: ${databases.map(({ database }) => database).join(', ')}.`);
}

function urlSetting(service: ServiceName): string {
  return `${service.toUpperCase().replace('-', '_')}_DATABASE_URL`;
}

function databaseOf(service: ServiceName, text: string): ServiceDatabase {
  const url = URL.parse(text);
  const [role, password, database] = [url?.username, url?.password, url?.pathname.slice(1)].map((part) =>
    decodeURIComponent(part ?? ''),
  );
  if (!role || !password || !database)
    throw new InvalidSetting(
      `The setting ${urlSetting(service)} must have a role, a password and a database.`,
    );
  return { service, role, password, database };
}

function setting(name: string): string | undefined {
  const file = process.env[`${name}_FILE`];
  return file ? readFileSync(file, 'utf8').trim() : process.env[name] || undefined;
}

function required(name: string): string {
  const value = setting(name);
  if (value === undefined) throw new InvalidSetting(`The setting ${name} is missing.`);
  return value;
}

function log(message: string): void {
  process.stdout.write(`${JSON.stringify({ level: 'info', service: 'bootstrap', message })}\n`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof InvalidSetting ? exitCodeConfig : 1;
});
