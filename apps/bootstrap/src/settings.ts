import { type ServiceName, serviceNames } from '@fulfilment/contracts/permissions';
import { readFileSync } from 'node:fs';
import type { ServiceDatabase } from './databases.ts';
import { parseStoreUrl } from './store-url.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A command, a setting or the file of a secret is invalid. The message names it and contains no secret. */
export class InvalidInput extends Error {}

/** Returns the trimmed content of the file that `NAME_FILE` names, else the value of `NAME` if it has one. */
export function readSetting(environment: Environment, name: string): string | undefined {
  const file = environment[`${name}_FILE`];
  if (!file) return environment[name] || undefined;
  try {
    const value = readFileSync(file, 'utf8').trim();
    if (value !== '') return value;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new InvalidInput(`The setting ${name}_FILE is invalid: the file ${file} cannot be read (${code}).`);
  }
  throw new InvalidInput(`The setting ${name}_FILE is invalid: the file ${file} is empty.`);
}

export function requireSetting(environment: Environment, name: string): string {
  const value = readSetting(environment, name);
  if (value === undefined) throw new InvalidInput(`The setting ${name} is missing.`);
  return value;
}

export function requireUrl(environment: Environment, name: string): string {
  const url = requireSetting(environment, name);
  if (parseStoreUrl(url) === undefined)
    throw new InvalidInput(
      `The setting ${name} must be a URL. A user and a password in it must be percent-encoded.`,
    );
  return url;
}

/** Returns the database of each service whose `DATABASE_URL` is given. */
export function readDatabases(environment: Environment): ServiceDatabase[] {
  return serviceNames.flatMap((service) => {
    const name = `${service.toUpperCase().replaceAll('-', '_')}_DATABASE_URL`;
    const url = readSetting(environment, name);
    return url === undefined ? [] : [databaseOf(service, name, url)];
  });
}

function databaseOf(service: ServiceName, setting: string, url: string): ServiceDatabase {
  const { user: role, password, path: database } = parseStoreUrl(url) ?? {};
  if (!role || !password || !database)
    throw new InvalidInput(
      `The setting ${setting} must be a URL with a role, a password and a database, each percent-encoded.`,
    );
  return { service, role, password, database };
}
