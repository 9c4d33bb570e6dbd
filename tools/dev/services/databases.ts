import * as bootstrap from '@fulfilment/bootstrap/databases';
import { type ServiceName, serviceNames } from '@fulfilment/contracts/permissions';
import type { Secrets } from '../state/secrets.ts';
import { type Settings, stateDirHash } from '../settings.ts';

export const databaseOf = {
  'store-api': 'store',
  'creator-api': 'creator',
  'auth-server': 'auth',
  'webhook-worker': 'webhooks',
} as const satisfies Record<ServiceName, string>;
type DatabaseName = (typeof databaseOf)[ServiceName];

/** Name of a database and its role, with a prefix on an external server, where several suites may be. */
function fullNameOf(name: DatabaseName, settings: Settings): string {
  return settings.externalUrls.postgres === undefined ? name : `fulfilment_${stateDirHash(settings)}_${name}`;
}

/** URL of a service's database, with a role that owns only this database. */
export function databaseUrl(
  serverUrl: string,
  name: DatabaseName,
  settings: Settings,
  secrets: Secrets,
): string {
  const url = new URL(serverUrl);
  const fullName = fullNameOf(name, settings);
  url.username = fullName;
  url.password = secrets.databasePasswords[name];
  url.pathname = `/${fullName}`;
  return url.href;
}

/** Creates the missing roles and databases of the services, as in production. */
export function createDatabases(serverUrl: string, settings: Settings, secrets: Secrets): Promise<void> {
  const databases = serviceNames.map((service) => {
    const name = databaseOf[service];
    const fullName = fullNameOf(name, settings);
    return { service, database: fullName, role: fullName, password: secrets.databasePasswords[name] };
  });
  return bootstrap.createDatabases(serverUrl, databases);
}

/** Removes the databases and their owners from an external server. */
export function dropDatabases(serverUrl: string, settings: Settings): Promise<void> {
  const databases = Object.values(databaseOf).map((name) => {
    const fullName = fullNameOf(name, settings);
    return { database: fullName, role: fullName };
  });
  return bootstrap.dropDatabases(serverUrl, databases);
}
