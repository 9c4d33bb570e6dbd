import * as bootstrap from '@fulfilment/bootstrap/databases';
import { type ServiceName, serviceNames } from '@fulfilment/contracts/permissions';
import type { Secrets } from '../state/secrets.ts';
import { type Settings, stateDirHash } from '../settings.ts';

/** Name of a database and its role, with a prefix on an external server, where several suites may be. */
function fullNameOf(service: ServiceName, settings: Settings): string {
  const name = bootstrap.databaseNames[service];
  return settings.externalUrls.postgres === undefined ? name : `fulfilment_${stateDirHash(settings)}_${name}`;
}

/** URL of a service's database, with a role that owns only this database. */
export function databaseUrl(
  serverUrl: string,
  service: ServiceName,
  settings: Settings,
  secrets: Secrets,
): string {
  const url = new URL(serverUrl);
  const fullName = fullNameOf(service, settings);
  url.username = fullName;
  url.password = secrets.databasePasswords[bootstrap.databaseNames[service]];
  url.pathname = `/${fullName}`;
  return url.href;
}

/** Creates the missing roles and databases of the services, as in production. */
export function createDatabases(serverUrl: string, settings: Settings, secrets: Secrets): Promise<void> {
  const databases = serviceNames.map((service) => {
    const name = fullNameOf(service, settings);
    const password = secrets.databasePasswords[bootstrap.databaseNames[service]];
    return { service, database: name, role: name, password };
  });
  return bootstrap.createDatabases(serverUrl, databases);
}

/** Removes the databases and their owners from an external server. */
export function dropDatabases(serverUrl: string, settings: Settings): Promise<void> {
  const databases = serviceNames.map((service) => {
    const name = fullNameOf(service, settings);
    return { database: name, role: name };
  });
  return bootstrap.dropDatabases(serverUrl, databases);
}
